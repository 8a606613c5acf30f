"""Words of a dense batch: which pieces belong together, where each word begins and its size."""

import dataclasses
from typing import Any

import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import BatchPart
from kerazoo.preprocessing.masking.candidates import Candidates
from kerazoo.preprocessing.masking.chosen import Chosen


@dataclasses.dataclass(frozen=True)
class Units:
    """What is chosen as a whole, one after another over all rows of a batch.

    Special tokens are units too, but no candidates, so that a run of candidates never goes on over
    the end of a text.

    Args:
        first: (units,) int64, the position of the first token, counted over all rows.
        size: (units,) int32, how many tokens it has.
        is_candidate: (units,) bool, whether each of them may be chosen.
        row_splits: (batch + 1,) int64, where the units of each row begin.
        width: () int64, positions of a row.
    """

    first: tf.Tensor
    size: tf.Tensor
    is_candidate: tf.Tensor
    row_splits: tf.Tensor
    width: tf.Tensor

    def chosen(self, numbers: tf.Tensor, limit: int) -> Chosen:
        """Return the tokens of units.

        Args:
            numbers: (units,) int32, 0 for those that are not chosen.
            limit: int, the most tokens of a unit: of a longer one it is the first ones.
        """
        which = tf.where(numbers)[:, 0]
        first = tf.gather(self.first, which)
        size = tf.minimum(tf.gather(self.size, which), limit)
        positions = tf.ragged.range(first, first + tf.cast(size, tf.int64))
        return Chosen(positions.flat_values, tf.repeat(tf.gather(numbers, which), size))

    def first_of_unit(self, positions: tf.Tensor) -> tf.Tensor:
        """Return which of some positions is the first one of the same unit.

        Args:
            positions: (n,) int64, counted over all rows, ascending.

        Returns:
            (n,) int32, places in `positions`, the same for positions of one unit.
        """
        unit = tf.searchsorted(self.first, positions, side="right")
        is_first = tf.concat([tf.ones_like(unit[:1], tf.bool), unit[1:] != unit[:-1]], 0)
        firsts = tf.cast(tf.where(is_first)[:, 0], tf.int32)
        return tf.gather(firsts, tf.cumsum(tf.cast(is_first, tf.int32)) - 1)

    def draw(self, part: BatchPart, seed: tf.Tensor, **options: Any) -> tf.Tensor:
        """Draw a number for each unit, which no other row has an influence on.

        Args:
            part: which rows of a batch these are.
            seed: (2,) int32.
            **options: see `tf.random.stateless_uniform`.

        Returns:
            (units,).
        """
        shape = [tf.size(self.row_splits) - 1, tf.cast(self.width, tf.int32)]
        drawn = part.uniform(shape, seed, **options)
        return tf.gather(tf.reshape(drawn, [-1]), self.first)


def token_units(candidates: Candidates) -> Units:
    """Return each token of a batch as a unit of its own."""
    is_selectable = tf.reshape(candidates.is_selectable, [-1])
    rows, width = tf.unstack(tf.shape(candidates.is_selectable, tf.int64))
    first = tf.range(tf.size(is_selectable, out_type=tf.int64))
    size = tf.ones_like(first, tf.int32)
    return Units(first, size, is_selectable, tf.range(rows + 1) * width, width)


def word_units(word_starts: tf.Tensor, candidates: Candidates) -> Units:
    """Return the words of a batch; one that holds an unselectable piece is no candidate.

    Args:
        word_starts: (batch, seq) bool, the first piece of each word.
        candidates: of the batch.
    """
    is_real = candidates.is_real
    rows, width = tf.unstack(tf.shape(is_real, tf.int64))
    continues = continues_a_word(word_starts, candidates.is_text)
    is_continued = tf.pad(continues[:, 1:], [[0, 0], [0, 1]])
    first = _flat_where(is_real & ~continues)
    last = _flat_where(is_real & ~is_continued)
    never = _flat_where(is_real & ~candidates.is_selectable)
    never_units = tf.searchsorted(first, never, side="right", out_type=tf.int64) - 1
    is_candidate = tf.tensor_scatter_nd_update(
        tf.ones_like(first, tf.bool), never_units[:, tf.newaxis], tf.zeros_like(never, tf.bool)
    )
    row_splits = tf.searchsorted(first, tf.range(rows + 1) * width, out_type=tf.int64)
    return Units(first, tf.cast(last - first + 1, tf.int32), is_candidate, row_splits, width)


def continues_a_word(word_starts: tf.Tensor, is_text: tf.Tensor) -> tf.Tensor:
    """Return which pieces belong to the word of the piece before.

    A text that was cut at its front may begin within a word; what is left of that is a word.

    Args:
        word_starts: (batch, seq) bool.
        is_text: (batch, seq) bool, False on padding and on tokens that stand around texts.

    Returns:
        (batch, seq) bool.
    """
    after_text = tf.pad(is_text[:, :-1], [[0, 0], [1, 0]])
    return is_text & after_text & ~word_starts


def _flat_where(flags: tf.Tensor) -> tf.Tensor:
    return tf.where(tf.reshape(flags, [-1]))[:, 0]
