"""Token masking: each chosen token on its own."""

import tensorflow as tf

from kerazoo.preprocessing.masking.random_keys import NOT_A_CANDIDATE, random_keys


def select_tokens(
    is_candidate: tf.Tensor, counts: tf.Tensor, limit: int, seed: tf.Tensor
) -> tf.Tensor:
    """Choose exactly `counts` tokens of each row, every one with the same probability.

    Args:
        is_candidate: (batch, seq) bool.
        counts: (batch,) int32, at most the number of candidates of the row and at most `limit`.
        limit: int, the most tokens of any row.
        seed: (2,) int32.

    Returns:
        (batch, seq) bool.
    """
    keys = random_keys(is_candidate, seed)
    largest = tf.math.top_k(keys, tf.minimum(limit, tf.shape(keys)[1])).values
    last = tf.gather(largest, tf.maximum(counts - 1, 0), axis=1, batch_dims=1)
    return (keys >= last[:, tf.newaxis]) & (keys > NOT_A_CANDIDATE) & (counts > 0)[:, tf.newaxis]
