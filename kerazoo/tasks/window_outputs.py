"""Outputs of a task for many packed windows, in batches of like length."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK


def window_outputs(
    task: Any, features: dict[str, tf.Tensor], batch_size: int
) -> Iterator[tuple[np.ndarray, Any]]:
    """Compute windows in the order of their lengths.

    Args:
        task: a task, whose preprocessor is not asked.
        features: the model's inputs, and perhaps more, each (windows, seq).
        batch_size: int, windows computed together.

    Yields:
        The numbers of the windows of a batch, and the model's outputs for them as NumPy arrays,
        (windows of the batch, width, …), where the width may be less than `seq`.
    """
    arrays = {key: features[key].numpy() for key in task.input}
    lengths = features[PADDING_MASK].numpy().sum(axis=1)
    multiple = task.preprocessor.pad_to_multiple_of or 8
    batches = batches_of_like_length(
        lengths, batch_size, None if keras.config.backend() == "jax" else multiple
    )
    with task.without_preprocessor():
        for rows, width in batches:
            batch = {key: values[rows, :width] for key, values in arrays.items()}
            outputs = task.predict_on_batch(_filled_up(batch, batch_size))
            outputs = keras.tree.map_structure(keras.ops.convert_to_numpy, outputs)
            yield rows, keras.tree.map_structure(itemgetter(slice(len(rows))), outputs)


def batches_of_like_length(
    lengths: np.ndarray, batch_size: int, multiple: int | None
) -> list[tuple[np.ndarray, int | None]]:
    """Return the rows of each batch and the width that they need, None for all of it.

    Args:
        lengths: (rows,) int.
        batch_size: int, rows of a batch.
        multiple: int, widths are rounded up to a multiple of this; None takes the whole width.
    """
    order = np.argsort(lengths, kind="stable")
    batches = []
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        longest = int(lengths[rows].max())
        batches.append((rows, None if multiple is None else -(-longest // multiple) * multiple))
    return batches


def _filled_up(batch: dict[str, np.ndarray], batch_size: int) -> dict[str, np.ndarray]:
    """Repeat the last row up to whole batches where every number of rows is compiled anew."""
    if keras.config.backend() != "jax":
        return batch
    return {
        key: np.pad(values, [(0, batch_size - len(values)), (0, 0)], mode="edge")
        for key, values in batch.items()
    }
