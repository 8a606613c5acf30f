"""The tensors of one safetensors file."""

from pathlib import Path

import ml_dtypes  # noqa: F401  (makes NumPy know bfloat16, which safetensors asks for by name)
import numpy as np
from safetensors import SafetensorError, safe_open

from kerazoo.conversion.stored_tensor import StoredTensor


def read_safetensors(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a safetensors file by name, without reading their values.

    Raises:
        ValueError: if the file is truncated or not a safetensors file.
    """
    tensors = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():
                shape = tuple(file.get_slice(name).get_shape())
                tensors[name] = StoredTensor(name, shape, path, _Loader(path, name))
    except SafetensorError as error:
        raise ValueError(
            f"{path} is truncated or not a safetensors file: {error}. Download or save it again."
        ) from error
    return tensors


class _Loader:
    """Reads one tensor of a file."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    def __call__(self) -> np.ndarray:
        with safe_open(self.path, framework="numpy") as file:
            return np.asarray(file.get_tensor(self.name))
