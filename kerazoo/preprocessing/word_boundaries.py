"""Words of a dense batch: which pieces belong together, where each word begins and its size."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Units:
    """What is chosen as a whole, one after another over all rows of a batch.

    Special tokens are units too, and so is the padding of a row as a whole; neither is a candidate,
    so that a run of candidates never goes on over the end of a text.

    Args:
        is_first: (batch, seq) bool, the first tokens of candidates.
        of_position: (batch × seq,) int32, the unit of each position.
        first: (units,) int32, the position of its first token, counted over all rows.
        size: (units,) int32, its tokens.
        is_candidate: (units,) bool, whether every token of it may be chosen.
    """

    is_first: tf.Tensor
    of_position: tf.Tensor
    first: tf.Tensor
    size: tf.Tensor
    is_candidate: tf.Tensor

    def to_positions(self, values: tf.Tensor) -> tf.Tensor:
        """Return the value of each position's unit: (units,) -> (batch, seq)."""
        return tf.reshape(tf.gather(values, self.of_position), tf.shape(self.is_first))

    def of_each(self, chosen: tf.Tensor) -> tf.Tensor:
        """Number the units of some positions from 0 in order.

        Args:
            chosen: (chosen, 2) int64, row and position, in ascending order.

        Returns:
            (chosen,) int32, the same for positions of one unit.
        """
        width = tf.shape(self.is_first, tf.int64)[1]
        unit = tf.gather(self.of_position, chosen[:, 0] * width + chosen[:, 1])
        is_next = tf.concat([tf.zeros_like(unit[:1]), tf.cast(unit[1:] != unit[:-1], tf.int32)], 0)
        return tf.cumsum(is_next)


def token_units(is_selectable: tf.Tensor) -> Units:
    """Return each token as a unit of its own; `is_selectable` is (batch, seq) bool."""
    flat = tf.reshape(is_selectable, [-1])
    positions = tf.range(tf.size(flat))
    return Units(is_selectable, positions, positions, tf.ones_like(positions), flat)


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


def word_units(
    word_starts: tf.Tensor, is_text: tf.Tensor, is_selectable: tf.Tensor, is_real: tf.Tensor
) -> Units:
    """Return the words of a batch; one that holds an unselectable piece is no candidate.

    Args:
        word_starts: (batch, seq) bool, the first piece of each word.
        is_text: (batch, seq) bool, False on padding and on tokens that stand around texts.
        is_selectable: (batch, seq) bool, the pieces that may be chosen.
        is_real: (batch, seq) bool, False on padding.
    """
    continues = continues_a_word(word_starts, is_text)
    after_real = tf.pad(is_real[:, :-1], [[0, 0], [1, 0]], constant_values=True)
    begins = ~continues & (is_real | after_real)
    flat = tf.reshape(begins, [-1])
    first = tf.cast(tf.where(flat)[:, 0], tf.int32)
    of_position = tf.cumsum(tf.cast(flat, tf.int32)) - 1
    end = tf.concat([first[1:], tf.shape(flat)], axis=0)
    is_candidate = tf.gather(tf.reshape(is_selectable, [-1]), first)
    # Few words hold such a piece, and mostly none: an update of nothing costs nothing.
    spoilt = tf.where(tf.reshape(continues & ~is_selectable, [-1]))
    spoilt_units = tf.gather(of_position, spoilt)
    is_candidate = tf.tensor_scatter_nd_update(
        is_candidate, spoilt_units, tf.zeros_like(spoilt_units[:, 0], tf.bool)
    )
    spoilt_first = tf.gather(first, spoilt_units)
    is_first = tf.tensor_scatter_nd_update(
        tf.reshape(begins & is_selectable, [-1]),
        spoilt_first,
        tf.zeros_like(spoilt_units[:, 0], tf.bool),
    )
    is_first = tf.reshape(is_first, tf.shape(is_real))
    return Units(is_first, of_position, first, end - first, is_candidate)
