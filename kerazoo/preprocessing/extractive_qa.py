"""Raw questions, passages and answers to the inputs of an `ExtractiveQA`."""

from typing import Any

import keras
import tensorflow as tf

from kerazoo.axes import ANSWER, ANSWER_START, CONTEXT, END_LOGITS, QUESTION, START_LOGITS
from kerazoo.checks import check_positive
from kerazoo.preprocessing.answer_tokens import answer_positions, check_answers
from kerazoo.preprocessing.base import Preprocessor
from kerazoo.preprocessing.packing import check_room
from kerazoo.preprocessing.passage_windows import (
    SPECIALS,
    PassageWindows,
    passage_windows,
)
from kerazoo.preprocessing.windows import check_stride
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.tokenizers.texts import to_text_tensor


@keras.saving.register_keras_serializable(package="kerazoo")
class ExtractiveQAPreprocessor(Preprocessor):
    """Tokenise questions and passages, pack them in windows, and find the answers' tokens.

    The question comes first and is never cut; a passage that leaves no room is read in overlapping
    windows, each behind the whole question and each a row of its own: BERT reads
    `[CLS] question [SEP] window [SEP]`, GPT `<s> question $ window <e>`.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row.
        stride: int, how many tokens after a window the next one begins; None is 128, or half of
            the room for the passage where that is less.
        null_at_end: bool, let the last token stand for "no answer", as a causal model needs it,
            and not the first; the task sets it.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: dict of "question" and "context", each (batch,) string.
        y: dict of "answer", (batch,) string, and "answer_start", (batch,) int, the character of the
            context at which it begins; -1 and "" for no answer. Optional.
        sample_weight: (batch,) float, optional.

    Returns:
        A dict of `token_ids`, `segment_ids`, `padding_mask` and `answer_mask`, each (windows, seq)
        int32; with `y` a tuple of it and a dict of `start_logits` and `end_logits`, each (windows,)
        int32, the positions of the answer's first and last token, or of the token for "no answer";
        with `sample_weight` a dict of weights too, each (windows,) float32.

    Raises:
        ValueError: if the stride leaves gaps between the windows.
        tf.errors.InvalidArgumentError: if a question leaves no room for its passage, or an answer
            is not the slice of its context that it claims to be.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 384,
        stride: int | None = None,
        null_at_end: bool = False,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        self.check_windows(sequence_length, stride)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.stride = stride
        self.null_at_end = null_at_end
        self.pad_to_multiple_of = pad_to_multiple_of

    @staticmethod
    def check_windows(sequence_length: int, stride: int | None) -> None:
        """Raise ValueError if rows have no room for a passage, or the windows leave gaps.

        Args:
            sequence_length: as for the class.
            stride: as for the class.
        """
        check_room(sequence_length, SPECIALS + 1)
        if stride is not None:
            check_stride(stride, sequence_length - SPECIALS - 1)

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        *windows, _ = self.windows(x, y, sample_weight, self.pad_to_multiple_of)
        return keras.utils.pack_x_y_sample_weight(*windows)

    def windows(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        pad_to_multiple_of: int | None = None,
    ) -> tuple[
        dict[str, tf.Tensor], dict[str, tf.Tensor] | None, dict[str, tf.Tensor] | None, tf.Tensor
    ]:
        """Return features, targets and weights, None where there are none, as the class says.

        Behind them comes the question of each window, (windows,) int32.

        Args:
            x: as for the call.
            y: as for the call.
            sample_weight: as for the call.
            pad_to_multiple_of: as for the class.
        """
        question, context = question_texts(x)
        passages = self.read(question, context, pad_to_multiple_of)
        checks = [_check_room_for_passages(passages.fits, question)]
        targets = weights = None
        if y is not None:
            answer, start = _answers(y)
            checks.append(check_answers(passages.contexts, answer, start))
            end = start + tf.strings.length(answer, unit="UTF8_CHAR")
            targets = _by_output(answer_positions(passages, start, end))
        if sample_weight is not None:
            weight = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
            weights = _by_output((tf.gather(weight, passages.windows.document),) * 2)
        with tf.control_dependencies([check for check in checks if check is not None]):
            features = {key: tf.identity(value) for key, value in passages.features.items()}
        return features, targets, weights, passages.windows.document

    def read(self, question: Any, context: Any, pad_to_multiple_of: int | None) -> PassageWindows:
        """Return packed rows, with what is needed to find answers in them.

        Args:
            question: (batch,) string.
            context: (batch,) string.
            pad_to_multiple_of: as for the class.
        """
        return passage_windows(
            self.tokenizer,
            question,
            context,
            self.sequence_length,
            self.stride,
            self.null_at_end,
            pad_to_multiple_of,
        )

    def question_lengths(self, questions: Any) -> tf.Tensor:
        """Return the tokens of questions, (batch,) int32."""
        return tf.cast(self.tokenizer.tokenize(questions).row_lengths(), tf.int32)

    @property
    def longest_question(self) -> int:
        """The most tokens of a question that leave room for a token of the passage."""
        return self.sequence_length - SPECIALS - 1

    def count_truncated(self, x: Any, batch_size: int = 1024) -> int:
        """Return 0: a long passage goes on in the next window, and questions are never cut."""
        return 0

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "stride": self.stride,
            "null_at_end": self.null_at_end,
            "pad_to_multiple_of": self.pad_to_multiple_of,
        }


def question_texts(x: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the questions and contexts of a batch, each (batch,) string.

    Args:
        x: dict of "question" and "context".

    Raises:
        ValueError: if `x` has other keys or the texts have another number of axes.
    """
    if not isinstance(x, dict) or set(x) != {QUESTION, CONTEXT}:
        received = f"keys={sorted(x)}" if isinstance(x, dict) else f"a {type(x).__name__}"
        raise ValueError(
            f"Extractive QA reads the keys {QUESTION!r} and {CONTEXT!r}. Received: {received}"
        )
    texts = tuple(to_text_tensor(x[key]) for key in (QUESTION, CONTEXT))
    for key, text in zip((QUESTION, CONTEXT), texts, strict=True):
        if text.shape.rank != 1:
            raise ValueError(
                f"Texts must have one axis, the batch. Received: {key} of shape {text.shape}"
            )
    return texts


def _answers(y: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the answers, (batch,) string, and their first characters, (batch,) int32."""
    if not isinstance(y, dict) or set(y) != {ANSWER, ANSWER_START}:
        received = f"keys={sorted(y)}" if isinstance(y, dict) else f"a {type(y).__name__}"
        raise ValueError(
            f"Answers come under the keys {ANSWER!r} and {ANSWER_START!r}. Received: {received}"
        )
    return to_text_tensor(y[ANSWER]), tf.cast(tf.convert_to_tensor(y[ANSWER_START]), tf.int32)


def _by_output(pair: tuple[tf.Tensor, tf.Tensor]) -> dict[str, tf.Tensor]:
    return dict(zip((START_LOGITS, END_LOGITS), pair, strict=True))


def _check_room_for_passages(fits: tf.Tensor, question: tf.Tensor) -> tf.Operation:
    message = (
        "A question leaves no room for its passage; raise `sequence_length`, or shorten it. "
        "Received: question="
    )
    return tf.debugging.Assert(tf.reduce_all(fits), [message, tf.boolean_mask(question, ~fits)])
