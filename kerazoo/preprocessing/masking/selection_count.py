"""How many tokens of a row are masked."""

import tensorflow as tf


def selection_count(length: int, rate: float, limit: int) -> int:
    """Return min(limit, max(1, length × rate rounded half to even)), as the reference does.

    Args:
        length: int, tokens of the row, [CLS] and [SEP] included.
        rate: float, the share to mask.
        limit: int, the most tokens to mask in a row.
    """
    return min(limit, max(1, round(length * rate)))


def selection_counts(lengths: tf.Tensor, rate: float, limit: int) -> tf.Tensor:
    """Return `selection_count` of each row.

    Args:
        lengths: (batch,) int32, tokens of each row, [CLS] and [SEP] included.
        rate: float, the share to mask.
        limit: int, the most tokens to mask in a row.

    Returns:
        (batch,) int32.
    """
    # In float64, as 0.15 × 130 = 19.5 must round as Python rounds it; `tf.round` is half to even.
    rounded = tf.cast(tf.round(tf.cast(lengths, tf.float64) * rate), tf.int32)
    return tf.minimum(tf.maximum(rounded, 1), limit)
