"""The buckets of rows by their length, for batches that have little padding."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerazoo.axes import PADDING_MASK
from kerazoo.tasks.packed_windows import PackedWindows


def length_buckets(x: Any, preprocessor: Any, width: int) -> np.ndarray:
    """Return the bucket of each row: how many times `width` its tokens take.

    Args:
        x: what `fit` gets: windows or features that are ready, or texts.
        preprocessor: what packs the texts.
        width: int, tokens by which the buckets differ.

    Returns:
        (rows,) int32, from 1.
    """
    features = x.features if isinstance(x, PackedWindows) else x
    if isinstance(features, Mapping) and PADDING_MASK in features:
        lengths = np.asarray(features[PADDING_MASK]).sum(axis=1)
    else:
        lengths = np.minimum(preprocessor.text_lengths(x), preprocessor.sequence_length)
    buckets: np.ndarray = np.maximum(-(-lengths // width), 1).astype(np.int32)
    return buckets
