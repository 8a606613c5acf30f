"""Batches that all have one shape, as a TPU, whose program is compiled for it, needs them."""

from typing import Any

import keras
import tensorflow as tf
from keras import tree

from kerazoo.without_autograph import without_autograph


@without_autograph
def static_batches(data: tf.data.Dataset, rows: int) -> tf.data.Dataset:
    """Give all batches as many rows; those that fill one up weigh nothing.

    Args:
        data: preprocessed batches, (x, y), perhaps with weights.
        rows: int, rows of a batch; none has more.

    Returns:
        Batches (x, y, weights). Rows without weights get 1.

    Raises:
        ValueError: if texts or a tensor of unknown width are among the inputs.
    """

    def filled(*batch: Any) -> Any:
        x, y, weights = keras.utils.unpack_x_y_sample_weight(batch)
        if weights is None:
            weights = tree.map_structure(lambda v: tf.ones(tf.shape(v)[:1]), y)
        return tree.map_structure(lambda v: _filled(v, rows), (x, y, weights))

    _check_shapes(data.element_spec)
    return data.map(filled, num_parallel_calls=tf.data.AUTOTUNE)


def _filled(values: tf.Tensor, rows: int) -> tf.Tensor:
    missing = rows - tf.shape(values)[0]
    padded = tf.pad(values, [[0, missing]] + [[0, 0]] * (values.shape.rank - 1))
    return tf.ensure_shape(padded, (rows, *values.shape[1:]))


def _check_shapes(spec: Any) -> None:
    for part in tf.nest.flatten(spec):
        if part.dtype == tf.string:
            raise ValueError(
                "Texts stay on the host, and a TPU computes with numbers alone; give the task a "
                f"preprocessor. Received: a tensor of strings, {part.shape}"
            )
        if None in part.shape[1:].as_list():
            raise ValueError(
                "A TPU computes with one shape, and the width of these rows changes from batch to "
                "batch. Received: a tensor of shape "
                f"({', '.join('any' if n is None else str(n) for n in part.shape)})"
            )
