"""Running totals that begin with nothing: where each of several stretches starts."""

import tensorflow as tf


def running_total(lengths: tf.Tensor) -> tf.Tensor:
    """Return 0, the first length, the sum of the first two, ….

    Args:
        lengths: (n,) int.

    Returns:
        (n + 1,), in the dtype of `lengths`.
    """
    return tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], axis=0)
