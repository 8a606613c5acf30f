"""A tensor of a checkpoint that is read from disk only when it is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class StoredTensor:
    """Name, shape and place of one tensor in a checkpoint.

    Args:
        name: the name as it stands in the file.
        shape: the shape as it stands in the file.
        file: the file that holds the tensor.
        load: reads the values in the file's own dtype.
    """

    name: str
    shape: tuple[int, ...]
    file: Path
    load: Callable[[], np.ndarray]

    def read(self) -> np.ndarray:
        """Return the values; floats of 16 bits become float32, which loses nothing.

        Raises:
            ValueError: if the values are not floats.
        """
        values = self.load()
        if values.dtype == np.float32:
            return values
        if values.dtype.name in ("float16", "bfloat16", "float64"):
            return values.astype(np.float32)
        raise ValueError(
            f"The tensor {self.name!r} in {self.file} does not hold floating-point weights; "
            f"kerazoo reads float32, float16, bfloat16 and float64. "
            f"Received: dtype={values.dtype.name!r}"
        )
