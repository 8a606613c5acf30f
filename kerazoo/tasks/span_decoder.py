"""From logits of windows to answers in passages: one graph, eagerly and served."""

import dataclasses
import functools

import tensorflow as tf

from kerazoo.checks import check_positive
from kerazoo.preprocessing.passage_windows import PassageWindows
from kerazoo.preprocessing.windows import Windows
from kerazoo.tokenizers.token_rows import row_of_each_token

_NOWHERE = -1e30
"""Score of a span that is none; two of them still add up to a finite number."""


@dataclasses.dataclass(frozen=True)
class SpanDecoder:
    """Ranks the spans of all windows of a passage (Devlin et al. 2018, section 4.2).

    Every start is paired with every end; a pair counts if it lies in the passage, ends no earlier
    than it begins, is short enough, and has no more context in another window, so that a span is
    counted once. (Pairing only the best starts with the best ends, as `run_squad.py` does, may miss
    the best span.) The score is the sum of both logits, and probabilities are a softmax over the
    `n_best` best. The score of "no answer" is the lowest over the windows.

    Args:
        n_best: int, spans of a passage that share the probability.
        max_answer_length: int, the most tokens of an answer.
        no_answer_threshold: float, by how much the score of "no answer" must be above that of the
            best span to be answered; None always answers with a span.
    """

    n_best: int = 20
    max_answer_length: int = 30
    no_answer_threshold: float | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        check_positive("n_best", self.n_best)
        check_positive("max_answer_length", self.max_answer_length)

    def check_top_k(self, top_k: int) -> None:
        """Raise ValueError unless a list of `top_k` best answers can be given."""
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 0 < top_k <= self.n_best:
            raise ValueError(
                f"`top_k` must be a whole number from 1 to {self.n_best}, the spans that share the "
                f"probability. Received: top_k={top_k!r}"
            )

    def decode(
        self,
        start_logits: tf.Tensor,
        end_logits: tf.Tensor,
        passages: PassageWindows,
        top_k: int = 1,
    ) -> dict[str, tf.Tensor]:
        """Return the answers to a batch of questions.

        Args:
            start_logits: (windows, seq) float32.
            end_logits: (windows, seq) float32.
            passages: the packed questions.
            top_k: int, entries of the list of best answers.

        Returns:
            `answer` (questions,) string, the slice of the passage from `start` to `end`, each
            (questions,) int32 and half-open, "" for no answer; `score` (questions,) float32, its
            probability; `no_answer_score` (questions,) float32, the score of "no answer" less that
            of the best span; and the best answers in order, `n_best_answers`, `n_best_starts`,
            `n_best_ends` and `n_best_scores`, each (questions, top_k): where a threshold is set, ""
            is one of them. Entries that are none have "", 0, 0 and the score 0. A question that
            leaves no room for its passage has no answer.
        """
        spans = self._best_of_passages(
            self._spans_of_windows(start_logits, end_logits, passages), passages
        )
        null = _null_scores(start_logits, end_logits, passages)
        difference = tf.where(passages.fits, null - spans["scores"][:, 0], -_NOWHERE)
        if self.no_answer_threshold is not None:
            spans = {
                name: tf.concat(
                    [values, (null if name == "scores" else tf.zeros_like(values[:, 0]))[:, None]],
                    axis=1,
                )
                for name, values in spans.items()
            }
        scores = tf.where(passages.fits[:, tf.newaxis], spans["scores"], _NOWHERE)
        spans |= {"scores": scores, "probabilities": tf.nn.softmax(scores)}
        best = _take(spans, self._chosen(scores, difference))
        listed = _take(spans, _padded_top_k(scores, top_k))
        best_slices, listed_slices = (_slices(passages.contexts, part) for part in (best, listed))
        return {
            "answer": best_slices[:, 0],
            "start": best["starts"][:, 0],
            "end": best["ends"][:, 0],
            "score": best["probabilities"][:, 0],
            "no_answer_score": difference,
            "n_best_answers": listed_slices,
            "n_best_starts": listed["starts"],
            "n_best_ends": listed["ends"],
            "n_best_scores": listed["probabilities"],
        }

    def _chosen(self, scores: tf.Tensor, difference: tf.Tensor) -> tf.Tensor:
        """Return the column of the answer, (questions, 1) int32."""
        first = tf.zeros_like(scores[:, :1], tf.int32)
        if self.no_answer_threshold is None:
            return first
        is_none = (difference > self.no_answer_threshold)[:, tf.newaxis]
        return tf.where(is_none, tf.shape(scores)[1] - 1, first)

    def _spans_of_windows(
        self, start_logits: tf.Tensor, end_logits: tf.Tensor, passages: PassageWindows
    ) -> dict[str, tf.Tensor]:
        """Return scores and characters of the best spans of each window, (windows, n_best)."""
        begin = passages.begin[:, tf.newaxis]
        tokens = _TokenLookup(passages)
        index = tokens.index(tf.range(tf.shape(start_logits)[1]) - begin)
        scores, first, last = _best_spans(
            tf.where(tokens.begins_character(index), start_logits, _NOWHERE),
            tf.where(tokens.ends_character(index), end_logits, _NOWHERE),
            passages.begin,
            vars(passages.windows),
            self.n_best,
            self.max_answer_length,
        )
        starts = tokens.starts(tokens.index(first - begin))
        ends = tokens.ends(tokens.index(last - begin))
        return {"scores": scores, "starts": starts, "ends": ends}

    def _best_of_passages(
        self, spans: dict[str, tf.Tensor], passages: PassageWindows
    ) -> dict[str, tf.Tensor]:
        """Return scores and characters of the best spans of each passage, (questions, n_best)."""
        questions = tf.shape(passages.contexts)[0]
        together = {
            name: _side_by_side(
                values,
                passages.windows.document,
                questions,
                _NOWHERE if name == "scores" else 0,
            )
            for name, values in spans.items()
        }
        return _take(together, _padded_top_k(together["scores"], self.n_best))


class _TokenLookup:
    """What is known of the tokens of passages, found by their positions in windows.

    Args:
        passages: the packed questions.
    """

    def __init__(self, passages: PassageWindows) -> None:
        """Append one value, which stands for tokens that are none."""
        self._windows = passages.windows
        starts, ends = passages.starts, passages.ends
        self._starts, self._ends = (
            tf.concat([values.flat_values, [0]], axis=0) for values in (starts, ends)
        )
        self._count = tf.size(starts.flat_values)
        row_starts = tf.cast(starts.row_starts(), tf.int32)
        self._first = tf.gather(row_starts, self._windows.document) + self._windows.first
        # A byte-level tokenizer may cut a character into several tokens, all with its offsets.
        row = row_of_each_token(starts)
        goes_on = (row[1:] == row[:-1]) & (
            (starts.flat_values[1:] == starts.flat_values[:-1])
            & (ends.flat_values[1:] == ends.flat_values[:-1])
        )
        no, size = tf.zeros([1], tf.bool), self._count + 1
        is_blank = self._ends <= self._starts
        self._begins = ~(tf.concat([no, goes_on, no], axis=0)[:size] | is_blank)
        self._ends_here = ~(tf.concat([goes_on, no, no], axis=0)[:size] | is_blank)

    def index(self, token: tf.Tensor) -> tf.Tensor:
        """Return where tokens of windows, (windows, n) int32, stand among those of all passages."""
        inside = (token >= 0) & (token < self._windows.length[:, tf.newaxis])
        return tf.where(inside, self._first[:, tf.newaxis] + token, self._count)

    def starts(self, index: tf.Tensor) -> tf.Tensor:
        """Return the characters at which tokens begin."""
        return tf.gather(self._starts, index)

    def ends(self, index: tf.Tensor) -> tf.Tensor:
        """Return the characters behind tokens."""
        return tf.gather(self._ends, index)

    def begins_character(self, index: tf.Tensor) -> tf.Tensor:
        """Return which tokens are the first of their character, and no white space."""
        return tf.gather(self._begins, index)

    def ends_character(self, index: tf.Tensor) -> tf.Tensor:
        """Return which tokens are the last of their character, and no white space."""
        return tf.gather(self._ends_here, index)


@functools.partial(tf.function, autograph=False, reduce_retracing=True)
def _best_spans(
    start_scores: tf.Tensor,
    end_scores: tf.Tensor,
    begin: tf.Tensor,
    windows: dict[str, tf.Tensor],
    n_best: int,
    max_answer_length: int,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return scores, first and last positions of the best spans, each (windows, n_best), by score.

    Traced, as a loop over windows takes far longer when it is run eagerly.

    Args:
        start_scores: (windows, seq) float32, `_NOWHERE` where no span may begin.
        end_scores: (windows, seq) float32, `_NOWHERE` where none may end.
        begin: (windows,) int32, the position of the first token of each.
        windows: the fields of `Windows`.
        n_best: int, spans of each window.
        max_answer_length: int, the most tokens of a span.
    """
    count_of_windows, width = tf.unstack(tf.shape(start_scores))
    longest = tf.minimum(max_answer_length, width)
    last = tf.range(width)[:, tf.newaxis] + tf.range(longest)
    end_scores = tf.pad(end_scores, [[0, 0], [0, longest - 1]], constant_values=_NOWHERE)

    def best_of_window(number: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        scores = start_scores[number][:, tf.newaxis] + tf.gather(end_scores[number], last)
        token = last - begin[number]
        one = Windows(**{name: values[number, tf.newaxis] for name, values in windows.items()})
        is_counted = one.is_most_central(token[:, :1], token) & (scores > _NOWHERE / 2)
        scores = tf.reshape(tf.where(is_counted, scores, _NOWHERE), [-1])
        return tuple(tf.math.top_k(tf.pad(scores, [[0, n_best]], "CONSTANT", _NOWHERE), n_best))

    # One at a time, as a window has many more spans than tokens.
    scores, place = tf.map_fn(
        best_of_window,
        tf.range(count_of_windows),
        fn_output_signature=tuple(
            tf.TensorSpec([n_best], dtype) for dtype in (tf.float32, tf.int32)
        ),
    )
    first = place // longest
    return scores, first, first + place % longest


def _null_scores(
    start_logits: tf.Tensor, end_logits: tf.Tensor, passages: PassageWindows
) -> tf.Tensor:
    """Return the lowest score of "no answer" over the windows of each passage, (questions,)."""
    scores = tf.add_n(
        [
            tf.gather(logits, passages.null_position, axis=1, batch_dims=1)
            for logits in (start_logits, end_logits)
        ]
    )
    return tf.math.segment_min(scores, passages.windows.document)


def _side_by_side(
    values: tf.Tensor, document: tf.Tensor, questions: tf.Tensor, default: float
) -> tf.Tensor:
    """Put the spans of a passage's windows in one row: (windows, n) -> (questions, more)."""
    rows = tf.RaggedTensor.from_value_rowids(
        values, tf.cast(document, tf.int64), tf.cast(questions, tf.int64), validate=False
    )
    dense = rows.to_tensor(default_value=tf.cast(default, values.dtype))
    shape = tf.shape(dense)
    return tf.reshape(dense, [questions, shape[1] * shape[2]])


def _padded_top_k(scores: tf.Tensor, count: int) -> tf.Tensor:
    """Return the indices of the best `count` of each row, -1 where there are fewer."""
    available = tf.minimum(count, tf.shape(scores)[1])
    _, index = tf.math.top_k(scores, available)
    padded = tf.pad(index, [[0, 0], [0, count - available]], constant_values=-1)
    return tf.ensure_shape(padded, [None, count])


def _take(values: dict[str, tf.Tensor], index: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return the chosen entries of each row; where there is no span, zeros and the lowest score."""
    taken = {
        name: tf.gather(value, tf.maximum(index, 0), axis=1, batch_dims=1)
        for name, value in values.items()
    }
    is_span = (index >= 0) & (taken["scores"] > _NOWHERE / 2)
    return {
        name: tf.where(is_span, value, tf.cast(_NOWHERE if name == "scores" else 0, value.dtype))
        for name, value in taken.items()
    }


def _slices(contexts: tf.Tensor, spans: dict[str, tf.Tensor]) -> tf.Tensor:
    """Return slices of passages, (questions, n) string."""
    starts, ends = spans["starts"], spans["ends"]
    repeated = tf.repeat(contexts[:, tf.newaxis], tf.shape(starts)[1], axis=1)
    return tf.strings.substr(repeated, starts, ends - starts, unit="UTF8_CHAR")
