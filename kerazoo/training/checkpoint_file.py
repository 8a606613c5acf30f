"""One file of named arrays with a checksum over every byte of it; a safetensors file."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import keras
import ml_dtypes  # noqa: F401  (makes NumPy know bfloat16)
import numpy as np

_CHECKSUM = "sha256"
_UNKNOWN = "0" * 64  # stands where the checksum will stand, and is what it is computed with
_METADATA = "__metadata__"
_READ_AT_ONCE = 1 << 22
_KINDS = {
    **{"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL"},
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
}
_DTYPES = {kind: dtype for dtype, kind in _KINDS.items()}


@dataclasses.dataclass(frozen=True)
class NamedArray:
    """An array that is stored as a variable of that name would be."""

    path: str
    value: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its shape."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        """Return its data type."""
        return self.value.dtype


Stored: TypeAlias = keras.Variable | NamedArray


def write_variables(
    path: Path, variables: Sequence[Stored], metadata: dict[str, str], finite: int = 0
) -> None:
    """Write variables to a file and have the disk keep it; one of them is in memory at a time.

    Args:
        path: the file to create.
        variables: any number of them, or of arrays.
        metadata: strings by name.
        finite: int, so many of the variables, the first ones, may hold finite numbers only.

    Raises:
        OSError: if the disk is full or may not be written to.
        ValueError: if one of the first variables holds something else than finite numbers.
    """
    header = _header(variables, metadata)
    checksum = hashlib.sha256(header)
    with path.open("wb") as file:
        file.write(header)
        for number, variable in enumerate(variables):
            is_array = isinstance(variable, NamedArray)
            value = variable.value if is_array else keras.ops.convert_to_numpy(variable)
            # PyTorch computes with other types than the variables have by name.
            array = np.asarray(value, _dtype(variable), order="C")
            if number < finite and array.dtype.kind not in "iub" and not np.isfinite(array).all():
                raise ValueError(
                    "A weight is not a finite number any more, so no checkpoint is written. "
                    f"Received: {variable.path}"
                )
            content = array.reshape(-1).view(np.uint8).data
            checksum.update(content)
            file.write(content)
        file.seek(header.index(_UNKNOWN.encode()))
        file.write(checksum.hexdigest().encode())
        file.flush()
        os.fsync(file.fileno())


class StoredVariables:
    """A file of `write_variables` whose checksum was found to be right.

    Args:
        path: the file.

    Attributes:
        metadata: dict of strings, as it was given.
        checksum: str, over every byte of the file.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is damaged: cut, empty, or with a single bit that is not as written.
    """

    def __init__(self, path: Path) -> None:
        """Read the file once, a part at a time."""
        self.path = path
        try:
            with path.open("rb") as file:
                header, self._first = _read_header(file)
                self.metadata: dict[str, str] = header.pop(_METADATA)
                self.checksum = self.metadata.pop(_CHECKSUM)
                self._tensors = list(header.values())
        except (KeyError, TypeError, AttributeError, RecursionError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self._tensors)

    def shape(self, number: int) -> tuple[int, ...]:
        """Return the shape of a variable."""
        return tuple(self._tensors[number]["shape"])

    def value(self, number: int) -> np.ndarray:
        """Return the value of a variable, which is read from the file."""
        tensor = self._tensors[number]
        begin, end = tensor["data_offsets"]
        with self.path.open("rb") as file:
            file.seek(self._first + begin)
            content = file.read(end - begin)
        return np.frombuffer(content, _DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


def _header(variables: Sequence[Stored], metadata: dict[str, str]) -> bytes:
    """Return what stands before the values: its own length, names, types, shapes and places."""
    # The checksum comes first, so that nothing else that is 64 zeros is taken for it.
    described: dict[str, Any] = {_METADATA: {_CHECKSUM: _UNKNOWN, **metadata}}
    end = 0
    for number, variable in enumerate(variables):
        dtype, shape, begin = _dtype(variable), list(variable.shape), end
        end += int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        place = {"dtype": _KINDS[dtype.name], "shape": shape, "data_offsets": [begin, end]}
        described[f"{number:06d}"] = place
    text = json.dumps(described).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _dtype(variable: Stored) -> np.dtype:
    return np.dtype(keras.backend.standardize_dtype(variable.dtype))


def _read_header(file: BinaryIO) -> tuple[dict[str, Any], int]:
    """Return the header of a whole file and where its values begin; ValueError if it is damaged."""
    length = file.read(8)
    size = int.from_bytes(length, "little")
    if len(length) < 8 or size > os.fstat(file.fileno()).st_size:
        raise ValueError("it is cut off")
    text = file.read(size)
    header = json.loads(text)
    stored = header[_METADATA][_CHECKSUM]
    checksum = hashlib.sha256(length + text.replace(stored.encode(), _UNKNOWN.encode(), 1))
    while part := file.read(_READ_AT_ONCE):
        checksum.update(part)
    if checksum.hexdigest() != stored:
        raise ValueError("its checksum is another one")
    return header, 8 + size
