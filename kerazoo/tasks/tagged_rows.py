"""All windows of some texts in memory: what a token classifier learns from."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK

_TEXTS_AT_ONCE = 256


@dataclasses.dataclass(frozen=True)
class TaggedRows:
    """Packed windows.

    Args:
        features: the model's inputs, each (windows, seq) int32.
        targets: (windows, seq) int32, tags, 0 where there is none; None without tags.
        weights: (windows, seq) float32, 0 where there is no tag; None without tags.
    """

    features: dict[str, np.ndarray]
    targets: np.ndarray | None
    weights: np.ndarray | None

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.features[PADDING_MASK])


def tagged_rows(
    preprocessor: Any, columns: dict[str, Any], targets: Any = None, sample_weight: Any = None
) -> TaggedRows:
    """Pack texts; the rows are as wide as the longest of them needs.

    Args:
        preprocessor: a `TokenClassifierPreprocessor`.
        columns: from `kerazoo.tasks.tagged_columns.tagged_columns`.
        targets: from `kerazoo.tasks.tagged_columns.target_columns`, or None.
        sample_weight: (rows,) float, the weight of each text, or None.
    """
    (values,) = columns.values()
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, "float32")
    portions = []
    with tf.device("CPU:0"):
        for start in range(0, max(int(values.shape[0]), 1), _TEXTS_AT_ONCE):
            part = slice(start, start + _TEXTS_AT_ONCE)
            x = {key: value[part] for key, value in columns.items()}
            y = {k: v[part] for k, v in targets.items()} if isinstance(targets, dict) else targets
            y = y[part] if y is not None and not isinstance(y, dict) else y
            weight = None if sample_weight is None else sample_weight[part]
            portion = preprocessor.windows(x, y, weight)
            portions.append(tf.nest.map_structure(_as_array, portion))
    features, tags, weights = zip(*portions, strict=True)
    joined = {key: np.concatenate([part[key] for part in features]) for key in features[0]}
    longest = int(joined[PADDING_MASK].sum(axis=1).max(initial=1))
    width = longest if preprocessor.pad_to_multiple_of else preprocessor.sequence_length
    return TaggedRows(
        features={key: value[:, :width] for key, value in joined.items()},
        targets=None if targets is None else np.concatenate(tags)[:, :width],
        weights=None if targets is None else np.concatenate(weights)[:, :width],
    )


def _as_array(value: Any) -> Any:
    return None if value is None else value.numpy()
