"""A linear-chain conditional random field over tag scores."""

import itertools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import Tensor
from kerazoo.checks import check_positive

_FORBIDDEN = -1e9
"""Score of a forbidden move: no path with one is ever better, and sums of two stay finite."""


@keras.saving.register_keras_serializable(package="kerazoo")
class CRF(keras.layers.Layer):
    """Scores of whole tag sequences: emissions and learnt moves (Lafferty et al. 2001).

    score(y) = start[y₁] + Σ emission_t[y_t] + Σ transition[y_{t-1}, y_t] + end[y_n], and
    P(y) = exp score(y) / Σ over all sequences. Everything is computed in float32 under every
    policy.

    Real positions stand at the front of a row; to leave positions out of the middle, such as later
    pieces of a word, gather the others to the front first: moves run from each position to its
    neighbour.

    Args:
        num_tags: int.
        forbidden_starts: tags with which no sequence begins.
        forbidden_transitions: pairs (from, to) of tags that never follow each other.
        forbidden_ends: tags with which no sequence ends.
        **kwargs: `name`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        emissions: (batch, seq, tags) float.

    Returns:
        The emissions as float32. They are the input of `negative_log_likelihood`, `decode` and
        `marginals`; the call makes the moves part of a functional model.

    Raises:
        ValueError: if `num_tags` is not positive or a forbidden tag is none of the tags.
    """

    def __init__(
        self,
        num_tags: int,
        forbidden_starts: Sequence[int] = (),
        forbidden_transitions: Sequence[tuple[int, int]] = (),
        forbidden_ends: Sequence[int] = (),
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(**{**kwargs, "dtype": "float32"})
        check_positive("num_tags", num_tags)
        self.num_tags = num_tags
        self.forbidden_starts = [int(tag) for tag in forbidden_starts]
        self.forbidden_transitions = [(int(i), int(j)) for i, j in forbidden_transitions]
        self.forbidden_ends = [int(tag) for tag in forbidden_ends]
        self._start_penalty = self._penalty("forbidden_starts", (num_tags,))
        self._transition_penalty = self._penalty("forbidden_transitions", (num_tags, num_tags))
        self._end_penalty = self._penalty("forbidden_ends", (num_tags,))

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Create the scores of moves, all zero."""
        tags = self.num_tags
        self.start = self.add_weight(name="start", shape=(tags,), initializer="zeros")
        self.transition = self.add_weight(
            name="transition", shape=(tags, tags), initializer="zeros"
        )
        self.end = self.add_weight(name="end", shape=(tags,), initializer="zeros")

    def call(self, emissions: Tensor) -> Tensor:
        """Return the emissions as float32; see the class."""
        return ops.cast(emissions, "float32")

    def negative_log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Return −log P of tag sequences.

        Args:
            emissions: (batch, seq, tags) float.
            tags: (batch, seq) int; any number below `num_tags` on padding.
            mask: (batch, seq) int or bool, 1 on real positions, which stand at the front.

        Returns:
            (batch,) float32, never below 0; 0 for a row without a real position.
        """
        emissions, mask = _with_one_more_step(emissions, mask)
        tags = ops.pad(ops.cast(tags, "int32"), ((0, 0), (0, 1)))
        start, transition, end = self._moves()
        # All scores are differences from those of the given path, so that this path has exactly 0
        # at each step: no rounding can make a confident row negative.
        gold = ops.take_along_axis(emissions, tags[..., None], axis=-1)
        emissions = ops.transpose(emissions - gold, (1, 0, 2))
        pairs = tags[:, :-1] * self.num_tags + tags[:, 1:]
        gold_moves = ops.transpose(ops.take(ops.reshape(transition, (-1,)), pairs))
        first = start - ops.take(start, tags[:, 0])[:, None] + emissions[0]

        def step(total: Tensor, inputs: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
            emission, gold_move, is_real = inputs
            moves = transition[None] - gold_move[:, :, None]
            new = ops.logsumexp(total[:, :, None] + moves, axis=1) + emission
            total = ops.where(is_real > 0, new, total)
            return total, total

        steps = (emissions[1:], gold_moves, ops.transpose(mask)[1:])
        total, _ = _scan(step, first, steps)
        lengths = ops.sum(ops.cast(mask, "int32"), axis=1)
        last = ops.take_along_axis(tags, ops.maximum(lengths - 1, 0)[:, None], axis=1)[:, 0]
        loss = ops.logsumexp(total + (end - ops.take(end, last)[:, None]), axis=1)
        return ops.where(lengths > 0, loss, 0.0)

    def decode(self, emissions: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the best tag sequence of each row (Viterbi 1967).

        Args:
            emissions: (batch, seq, tags) float.
            mask: (batch, seq) int or bool, 1 on real positions, which stand at the front.

        Returns:
            The tags, (batch, seq) int32, 0 on padding, and their scores, (batch,) float32.
        """
        emissions, mask = _with_one_more_step(emissions, mask)
        start, transition, end = self._moves()
        by_step = ops.transpose(emissions, (1, 0, 2))
        first = start[None] + by_step[0]
        stay = ops.zeros_like(first, dtype="int32") + ops.arange(self.num_tags, dtype="int32")

        def step(carry: tuple[Tensor, Tensor], inputs: tuple[Tensor, Tensor]) -> tuple[Any, Any]:
            best, _ = carry
            emission, is_real = inputs
            scores = best[:, :, None] + transition[None]
            is_real = is_real > 0
            came_from = ops.where(is_real, ops.cast(ops.argmax(scores, axis=1), "int32"), stay)
            best = ops.where(is_real, ops.max(scores, axis=1) + emission, best)
            return (best, came_from), (best, came_from)

        steps = (by_step[1:], ops.transpose(mask)[1:])
        (best, _), (_, came_from) = _scan(step, (first, stay), steps)
        best = best + end[None]
        last = ops.cast(ops.argmax(best, axis=1), "int32")

        def back(tag: Tensor, came_from: Tensor) -> tuple[Tensor, Tensor]:
            tag = ops.take_along_axis(came_from, tag[:, None], axis=1)[:, 0]
            return tag, tag

        _, tags = ops.scan(back, last, came_from, reverse=True)
        is_real = mask[:, :-1]
        tags = ops.reshape(tags, (-1, ops.shape(last)[0]))
        tags = ops.where(is_real, ops.transpose(tags), 0)
        return tags, ops.where(is_real[:, 0], ops.max(best, axis=1), 0.0)

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Return P(tag at each position), by the forward-backward algorithm.

        Args:
            emissions: (batch, seq, tags) float.
            mask: (batch, seq) int or bool, 1 on real positions, which stand at the front.

        Returns:
            (batch, seq, tags) float32, 0 on padding.
        """
        emissions, mask = _with_one_more_step(emissions, mask)
        start, transition, end = self._moves()
        by_step, real = ops.transpose(emissions, (1, 0, 2)), ops.transpose(mask)
        first = ops.log_softmax(start[None] + by_step[0], axis=1)
        nothing = ops.zeros_like(first)

        def forward(before: Tensor, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            emission, is_real = inputs
            new = ops.logsumexp(before[:, :, None] + transition[None], axis=1) + emission
            # Only relative sizes matter; kept small, they stay exact over long rows.
            new = ops.where(is_real > 0, ops.log_softmax(new, axis=1), before)
            return new, new

        def backward(after: Tensor, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            emission, is_real = inputs
            new = ops.logsumexp(transition[None] + (emission + after)[:, None, :], axis=2)
            new = new - ops.max(new, axis=1, keepdims=True)
            new = ops.where(is_real > 0, new, nothing + end[None])
            return new, new

        steps = (by_step[1:], real[1:])
        _, later = _scan(forward, first, steps)
        _, after = _scan(backward, nothing + end[None], steps, reverse=True)
        before = ops.concatenate([first[None], later[:-1]], axis=0)
        probabilities = ops.transpose(ops.softmax(before + after, axis=-1), (1, 0, 2))
        return ops.where(mask[:, :-1, None], probabilities, 0.0)

    def check_tags(self, tags: Any, mask: Any) -> None:
        """Raise ValueError if a tag sequence holds a forbidden move; the message names the row.

        Args:
            tags: (batch, seq) int array.
            mask: (batch, seq) int or bool array, 1 on real positions, which stand at the front.
        """
        tags = ops.convert_to_numpy(tags)
        lengths = ops.convert_to_numpy(mask).astype(bool).sum(axis=1)
        pairs = set(self.forbidden_transitions)
        for row, (path, length) in enumerate(zip(tags.tolist(), lengths.tolist(), strict=True)):
            path = path[:length]
            moves = [("begins with", tag) for tag in path[:1] if tag in self.forbidden_starts]
            followers = itertools.pairwise(path)
            moves += [("goes on from tag to tag", pair) for pair in followers if pair in pairs]
            moves += [("ends with", tag) for tag in path[-1:] if tag in self.forbidden_ends]
            if moves:
                words, tag = moves[0]
                raise ValueError(
                    f"Row {row} {words} what the CRF forbids, so it cannot be learnt. Mend its "
                    f"tags, or allow the move. Received: {tag} in tags={path}"
                )

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return the shape of the emissions."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_tags": self.num_tags,
            "forbidden_starts": self.forbidden_starts,
            "forbidden_transitions": [list(pair) for pair in self.forbidden_transitions],
            "forbidden_ends": self.forbidden_ends,
        }

    def _moves(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scores of starts, transitions and ends; forbidden ones are very low."""
        return (
            ops.add(self.start, self._start_penalty),
            ops.add(self.transition, self._transition_penalty),
            ops.add(self.end, self._end_penalty),
        )

    def _penalty(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array that is very low where a move is forbidden, and 0 elsewhere."""
        penalty = np.zeros(shape, "float32")
        for move in getattr(self, name):
            if not all(0 <= tag < self.num_tags for tag in np.atleast_1d(move)):
                raise ValueError(
                    f"`{name}` holds a tag that is none of 0 to {self.num_tags - 1}. "
                    f"Received: {name}={getattr(self, name)!r}"
                )
            penalty[move] = _FORBIDDEN
        return penalty


def _with_one_more_step(emissions: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return float32 emissions and a bool mask with a step of padding, as a scan needs one."""
    emissions = ops.pad(ops.cast(emissions, "float32"), ((0, 0), (0, 1), (0, 0)))
    return emissions, ops.pad(ops.cast(mask, "bool"), ((0, 0), (0, 1)))


def _scan(step: Any, first: Any, steps: tuple[Tensor, ...], reverse: bool = False) -> Any:
    """Return what `ops.scan` does for several inputs, also where their length is not known.

    On TensorFlow Keras scans inputs of unknown length one at a time only, and forgets their rank.

    Args:
        step: takes what is carried and a tuple of inputs, each (batch, n).
        first: what is carried at the beginning, each (batch, n).
        steps: each (time, batch, n) or (time, batch), of any dtype; `step` gets float32.
        reverse: bool, begin at the end.
    """
    columns = [ops.cast(x if len(x.shape) == 3 else x[:, :, None], "float32") for x in steps]
    ends = list(itertools.accumulate(column.shape[-1] for column in columns))

    def unpacked(carry: Any, inputs: Tensor) -> Any:
        parts = zip([0, *ends], ends, strict=False)
        return step(carry, tuple(inputs[:, begin:end] for begin, end in parts))

    carry, outputs = ops.scan(unpacked, first, ops.concatenate(columns, axis=-1), reverse=reverse)
    outputs = keras.tree.map_structure(
        lambda output, carried: ops.reshape(output, (-1, *ops.shape(carried))), outputs, first
    )
    return carry, outputs
