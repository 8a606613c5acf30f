"""Token masking: each chosen token on its own."""

import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.chosen import Chosen

_NOT_A_CANDIDATE = tf.int32.min


def select_tokens(
    is_candidate: tf.Tensor,
    counts: tf.Tensor,
    limit: int,
    seed: tf.Tensor,
    part: BatchPart = WHOLE,
) -> Chosen:
    """Choose exactly `counts` tokens of each row, every one with the same probability.

    Args:
        is_candidate: (batch, seq) bool.
        counts: (batch,) int32, from 1 to `limit`; a row with fewer candidates gives all of them.
        limit: int, the most tokens of any row.
        seed: (2,) int32.
        part: which rows of a batch these are.

    Returns:
        The chosen tokens.
    """
    keys = _random_keys(is_candidate, seed, part)
    largest = tf.math.top_k(keys, tf.minimum(limit, tf.shape(keys)[1])).values
    smallest = tf.gather(
        largest, tf.minimum(counts, tf.shape(largest)[1]) - 1, axis=1, batch_dims=1
    )
    is_chosen = keys >= tf.maximum(smallest, _NOT_A_CANDIDATE + 1)[:, tf.newaxis]
    positions = tf.where(tf.reshape(is_chosen, [-1]))[:, 0]
    return Chosen(positions, 1 + tf.range(tf.size(positions)))


def _random_keys(is_candidate: tf.Tensor, seed: tf.Tensor, part: BatchPart) -> tf.Tensor:
    """Return a random key for each candidate, (batch, seq) int32, and the least for the others.

    The position is the lowest bits of a key, so that no two are equal and exactly k keys are at
    least as large as the k-th largest; the other bits (24 for rows of 128) are random.
    """
    shape = tf.shape(is_candidate)
    width = tf.cast(shape[1] + 1, tf.float64)
    bits = tf.cast(tf.math.ceil(tf.math.log(width) / tf.math.log(tf.cast(2, tf.float64))), tf.int32)
    drawn = part.uniform(tf.unstack(shape), seed, minval=None, maxval=None, dtype=tf.int32)
    high = tf.bitwise.bitwise_and(drawn, tf.bitwise.left_shift(-1, bits))
    keys = tf.bitwise.bitwise_or(high, 1 + tf.range(shape[1]))
    # A scalar would do, but is seven times slower.
    return tf.where(is_candidate, keys, tf.fill(shape, _NOT_A_CANDIDATE))
