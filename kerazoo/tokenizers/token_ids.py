"""The caller's token ids, in whatever form, as a ragged batch."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf


def to_ragged_ids(ids: Any, vocabulary_size: int) -> tuple[tf.RaggedTensor, bool]:
    """Return ids as a ragged batch.

    Args:
        ids: (tokens,) or (batch, tokens) ints: a list, an array, or a dense or ragged tensor of
            any backend.
        vocabulary_size: int, above every id.

    Returns:
        (batch, tokens) int32, and whether the caller gave one row without a batch axis.

    Raises:
        ValueError: if there are more axes, elements that are no integers, or (outside a graph) an
            id that is none of the vocabulary.
    """
    if not isinstance(ids, (tf.Tensor, tf.RaggedTensor)):
        if keras.ops.is_tensor(ids):
            ids = keras.ops.convert_to_numpy(ids)
        ids = ids if isinstance(ids, np.ndarray) else tf.ragged.constant(ids, dtype=tf.int32)
        ids = ids if isinstance(ids, tf.RaggedTensor) else tf.convert_to_tensor(ids)
    rank = ids.shape.rank
    if rank not in (1, 2) or not ids.dtype.is_integer:
        raise ValueError(
            "Ids to be joined must be integers of shape (tokens,) or (batch, tokens). "
            f"Received: ids of shape {ids.shape} and dtype {ids.dtype.name}"
        )
    if tf.executing_eagerly():
        flat = (ids.flat_values if isinstance(ids, tf.RaggedTensor) else ids).numpy().reshape(-1)
        for unknown in flat[(flat < 0) | (flat >= vocabulary_size)][:1]:
            raise ValueError(f"Ids are 0 to {vocabulary_size - 1}. Received: id={unknown}")
    ids = tf.cast(ids, tf.int32)
    if rank == 1:
        return tf.RaggedTensor.from_tensor(ids[tf.newaxis]), True
    return ids if isinstance(ids, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(ids), False
