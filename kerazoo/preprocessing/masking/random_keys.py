"""Random keys, all different within a row: sorted by them, positions are in random order."""

import tensorflow as tf

NOT_A_CANDIDATE = tf.int32.min
"""The key of a position that takes no part; smaller than every other key."""


def random_keys(is_candidate: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Return a random key for each candidate.

    The position is the lowest bits of a key, so that no two are equal and exactly k keys are at
    least as large as the k-th largest; the other bits (25 for rows of 128) are random.

    Args:
        is_candidate: (batch, seq) bool.
        seed: (2,) int32.

    Returns:
        (batch, seq) int32, `NOT_A_CANDIDATE` where not `is_candidate`.
    """
    width = tf.shape(is_candidate)[1]
    positions = tf.range(width)
    bits = tf.cast(tf.math.ceil(tf.math.log(tf.cast(width + 1, tf.float64)) / _LOG_2), tf.int32)
    above = tf.bitwise.left_shift(-1, bits)
    drawn = tf.random.stateless_uniform(
        tf.shape(is_candidate), seed, minval=None, maxval=None, dtype=tf.int32
    )
    keys = tf.bitwise.bitwise_or(tf.bitwise.bitwise_and(drawn, above), positions + 1)
    return tf.where(is_candidate, keys, NOT_A_CANDIDATE)


_LOG_2 = 0.6931471805599453
