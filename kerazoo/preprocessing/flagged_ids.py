"""Token ids that carry a flag of their token through packing, which then runs once."""

from typing import Any

import tensorflow as tf

_FLAG = 1 << 30  # far above every id


def with_flags(ids: tf.RaggedTensor, flags: tf.RaggedTensor) -> tf.RaggedTensor:
    """Return ids, (batch, tokens) int32, that carry flags, (batch, tokens) bool."""
    return ids.with_flat_values(ids.flat_values + tf.where(flags.flat_values, _FLAG, 0))


def without_flags(flagged_ids: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the ids and the flags apart, int32 and bool of the same shape."""
    has_flag = flagged_ids >= _FLAG
    return tf.bitwise.bitwise_and(flagged_ids, _FLAG - 1), has_flag
