"""Texts and labels as users pass them to `fit`, checked and turned into a `tf.data` dataset."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.checks import check_rate
from kerazoo.data.row_order import RowOrder, row_count
from kerazoo.tasks.text_tensor import text_tensor


def is_raw_text(x: Any) -> bool:
    """Return whether `x` is texts in memory: a list, array, pair or dict of strings."""
    if isinstance(x, Mapping):
        return TEXT in x
    if isinstance(x, tuple):
        return len(x) > 0 and all(is_raw_text(part) for part in x)
    if tf.is_tensor(x):
        return x.dtype == tf.string
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "OUS"
    if isinstance(x, str):
        return True
    # A pandas Series is a column of texts too.
    return isinstance(x, Sequence) or type(x).__name__ == "Series"


def text_columns(x: Any) -> dict[str, tf.Tensor]:
    """Return texts as columns.

    Args:
        x: a list (array, tensor, pandas Series) of strings; or a pair as tuple `(a, b)` or dict
            `{"text": a, "text_pair": b}`.

    Returns:
        dict of "text" and, for pairs, "text_pair", each (rows,) string.

    Raises:
        ValueError: if `x` is no list, a row is no string, or the columns differ in length.
    """
    if isinstance(x, tuple):
        if len(x) > 2:
            raise ValueError(f"A pair has two texts. Received: a tuple of {len(x)}")
        x = dict(zip((TEXT, TEXT_PAIR), x, strict=False))
    if not isinstance(x, Mapping):
        x = {TEXT: x}
    unknown = sorted(set(x) - {TEXT, TEXT_PAIR})
    if unknown:
        raise ValueError(
            f"Texts come under the keys {TEXT!r} and, for pairs, {TEXT_PAIR!r}. "
            f"Received: keys={sorted(x)}"
        )
    columns = {key: _text_column(key, value) for key, value in x.items()}
    sizes = {key: int(column.shape[0]) for key, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Both texts of a pair need as many rows. Received: rows={sizes}")
    return columns


def label_column(y: Any, labels: Sequence[str], rows: int) -> tf.Tensor:
    """Return labels as class numbers.

    Args:
        y: class numbers or label names, one a row.
        labels: the label names in the order of the classes.
        rows: int, how many there must be.

    Returns:
        (rows,) int32.

    Raises:
        ValueError: for another number of rows, an unknown name or a number out of range.
    """
    values = np.asarray(y)
    if values.shape != (rows,):
        raise ValueError(
            f"There must be one label for each of the {rows} texts. "
            f"Received: y of shape {values.shape}"
        )
    if values.dtype.kind == "O" and all(isinstance(v, int) for v in values.tolist()):
        # NumPy makes objects of numbers beyond 64 bits; they are out of range like any other.
        values = np.asarray([max(-1, min(v, len(labels))) for v in values.tolist()], dtype="int64")
    if values.dtype.kind in "OUS":
        number_of = {name: number for number, name in enumerate(labels)}
        names = [v.decode() if isinstance(v, bytes) else str(v) for v in values.tolist()]
        for row, name in enumerate(names):
            if name not in number_of:
                raise ValueError(
                    f"Row {row} has a label the task does not know; it knows "
                    f"{', '.join(labels)}. Received: label={name!r}"
                )
        values = np.asarray([number_of[name] for name in names], dtype="int32")
    elif rows and values.dtype.kind not in "iub":
        raise ValueError(
            f"Labels must be names or whole numbers. Received: y of dtype {values.dtype}"
        )
    for row in np.flatnonzero((values < 0) | (values >= len(labels)))[:1]:
        raise ValueError(
            f"Row {row} has a class number outside 0 to {len(labels) - 1}. Received: y={y[row]}"
        )
    return tf.constant(values, dtype=tf.int32)


def score_column(y: Any, rows: int) -> tf.Tensor:
    """Return scores as floats.

    Args:
        y: numbers, one a row.
        rows: int, how many there must be.

    Returns:
        (rows,) float32.

    Raises:
        ValueError: for another number of rows, or something else than finite numbers.
    """
    values = np.asarray(y)
    if values.shape != (rows,):
        raise ValueError(
            f"There must be one score for each of the {rows} texts. "
            f"Received: y of shape {values.shape}"
        )
    if rows and values.dtype.kind not in "iuf":
        raise ValueError(
            "Scores must be numbers; for labels make the task with `labels=[…]`. "
            f"Received: y of dtype {values.dtype}"
        )
    for row in np.flatnonzero(~np.isfinite(values.astype("float64")))[:1]:
        raise ValueError(f"Row {row} has no finite score. Received: y={float(values[row])}")
    return tf.constant(values, dtype=tf.float32)


def feature_columns(x: Any) -> Any:
    """Return ready features in memory as NumPy arrays.

    Args:
        x: an array or tensor of any backend, or a dict of them.

    Returns:
        The same structure of arrays; None if `x` is no such thing, for example a dataset.
    """
    leaves = tf.nest.flatten(x)
    if not leaves or not all(hasattr(leaf, "shape") for leaf in leaves):
        return None
    return tf.nest.map_structure(keras.ops.convert_to_numpy, x)


def batched(
    columns: Any,
    y: Any,
    sample_weight: Any,
    batch_size: int | None,
    shuffle: bool | RowOrder,
) -> tf.data.Dataset:
    """Return a dataset of batches.

    Args:
        columns: arrays or tensors, (rows, …), or a dict of them.
        y: labels, (rows, …), or a dict of them, or None.
        sample_weight: (rows, …) float, or a dict of them, or None.
        batch_size: int; None is 32.
        shuffle: bool, draw a new order every epoch (seeded by `keras.utils.set_random_seed`); or an
            order to go on in, for endless batches.
    """
    batch_size = checked_batch_size(batch_size)
    parts: list[Any] = [columns]
    if y is None and sample_weight is not None:
        # A weight stands behind a label; tasks that take their targets from the texts ignore it.
        y = tf.zeros_like(sample_weight, dtype=tf.int32)
    if y is not None:
        parts.append(y)
        if sample_weight is not None:
            parts.append(tf.nest.map_structure(_as_weights, sample_weight))
    if isinstance(shuffle, RowOrder):
        return shuffle.batches(tuple(parts), batch_size)
    dataset = tf.data.Dataset.from_tensor_slices(tuple(parts))
    if shuffle:
        dataset = dataset.shuffle(max(row_count(columns), 1), reshuffle_each_iteration=True)
    return dataset.batch(batch_size)


def checked_batch_size(batch_size: int | None) -> int:
    """Return the rows of a batch; None is 32, as in Keras.

    Raises:
        ValueError: if there is no row in it.
    """
    if batch_size is None:
        return 32
    if batch_size < 1:
        raise ValueError(f"A batch needs at least one row. Received: batch_size={batch_size!r}")
    return batch_size


def split_off(arrays: Sequence[Any], fraction: float) -> tuple[list[Any], list[Any]]:
    """Split rows as Keras's `validation_split` does: the last share, before any shuffling.

    Args:
        arrays: tensors, dicts of tensors, or None, all with as many rows.
        fraction: float, the share of the second part.

    Returns:
        Both parts, each a list like `arrays`.

    Raises:
        ValueError: if `fraction` is no share, or one part would be empty.
    """
    check_rate("validation_split", fraction)
    rows = int(tf.nest.flatten([a for a in arrays if a is not None])[0].shape[0])
    cut = math.floor(rows * (1 - fraction))
    if cut in (0, rows):
        raise ValueError(f"{rows} rows are too few to split. Received: validation_split={fraction}")
    first = [None if a is None else tf.nest.map_structure(lambda t: t[:cut], a) for a in arrays]
    second = [None if a is None else tf.nest.map_structure(lambda t: t[cut:], a) for a in arrays]
    return first, second


def _as_weights(value: Any) -> tf.Tensor:
    return tf.cast(tf.convert_to_tensor(value), tf.float32)


def _text_column(key: str, value: Any) -> tf.Tensor:
    if isinstance(value, (str, bytes)):
        raise ValueError(f"Pass a list of texts, even for one. Received: {key}={value!r}")
    if tf.is_tensor(value):
        if value.shape.rank != 1:
            raise ValueError(
                f"Texts must have one axis, the rows. Received: {key} of shape {value.shape}"
            )
        return value
    if not isinstance(value, Iterable):
        raise ValueError(f"Pass a list of texts. Received: {key}={value!r}")
    rows = list(value)
    for row, item in enumerate(rows):
        if not isinstance(item, (str, bytes)):
            raise ValueError(f"Row {row} of `{key}` is not a text. Received: {item!r}")
    return text_tensor(rows)
