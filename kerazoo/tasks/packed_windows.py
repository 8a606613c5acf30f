"""All windows of some texts in memory: what a task that reads long texts learns from."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK

_ROWS_AT_ONCE = 256


@dataclasses.dataclass(frozen=True)
class PackedWindows:
    """Packed windows.

    Args:
        features: the model's inputs, each (windows, seq) int32.
        targets: int32, (windows, seq) or (windows,), or a dict of these; None without targets.
        weights: float32, shaped as the targets; None without weights.
        rows: (windows,) int32, the row that each is a window of.
    """

    features: dict[str, np.ndarray]
    targets: Any
    weights: Any
    rows: np.ndarray

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.features[PADDING_MASK])


def packed_windows(
    preprocessor: Any, columns: dict[str, Any], targets: Any = None, sample_weight: Any = None
) -> PackedWindows:
    """Pack texts; the rows are as wide as the longest of them needs.

    Args:
        preprocessor: one with `windows(x, y, sample_weight)`.
        columns: dict of tensors, dense or ragged, (rows, …).
        targets: what `windows` takes, a tensor, (rows, …), or a dict of them; None for none.
        sample_weight: (rows,) float, the weight of each row in all of its windows; or None.
    """
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, "float32")
    rows = int(next(iter(columns.values())).shape[0])
    portions = []
    with tf.device("CPU:0"):
        for start in range(0, max(rows, 1), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            *portion, row = preprocessor.windows(
                *(sliced(value, part) for value in (columns, targets, sample_weight))
            )
            portions.append(tf.nest.map_structure(_as_array, [*portion, row + start]))
    features, *others, of_row = tf.nest.map_structure(_joined, *portions)
    longest = int(features[PADDING_MASK].sum(axis=1).max(initial=1))
    width = longest if preprocessor.pad_to_multiple_of else preprocessor.sequence_length
    targets, weights = trimmed(others, width)
    return PackedWindows(trimmed(features, width), targets, weights, of_row)


def sliced(rows: Any, part: slice) -> Any:
    """Return some rows of a tensor, an array or a dict of them; of None nothing."""
    if isinstance(rows, dict):
        return {key: value[part] for key, value in rows.items()}
    return None if rows is None else rows[part]


def trimmed(rows: Any, width: Any) -> Any:
    """Return rows without what is beyond a width; rows of one value, and None, as they are.

    Args:
        rows: arrays or tensors, (rows, seq) or (rows,), in any nest.
        width: int, or () int32.
    """
    return tf.nest.map_structure(
        lambda value: value if value is None or value.ndim < 2 else value[:, :width], rows
    )


def _as_array(value: Any) -> Any:
    return None if value is None else value.numpy()


def _joined(*parts: Any) -> Any:
    return None if parts[0] is None else np.concatenate(parts)
