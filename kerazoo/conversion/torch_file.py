"""The tensors of one PyTorch file (`pytorch_model.bin`), read without PyTorch and weights-only.

PyTorch stores a pickle that describes the tensors, and beside it their raw values: in a zip
archive (since PyTorch 1.6) or one after the other (before). A pickle can run any code, so this
reader knows only the few names that describe a tensor and refuses the file at any other.
"""

import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import ml_dtypes
import numpy as np

from kerazoo.conversion.stored_tensor import StoredTensor

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_DTYPES = {
    "FloatStorage": np.dtype(np.float32),
    "HalfStorage": np.dtype(np.float16),
    "BFloat16Storage": np.dtype(ml_dtypes.bfloat16),
    "DoubleStorage": np.dtype(np.float64),
    "LongStorage": np.dtype(np.int64),
    "IntStorage": np.dtype(np.int32),
    "ByteStorage": np.dtype(np.uint8),
    "BoolStorage": np.dtype(np.bool_),
}


@dataclass(frozen=True)
class _Storage:
    key: str
    dtype: np.dtype
    count: int


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _RebuildTensor:
    """Stands in for `torch._utils._rebuild_tensor_v2`; cannot be changed by the pickle."""

    __slots__ = ()

    def __call__(
        self, storage: _Storage, offset: int, shape: tuple, strides: tuple, *_: object
    ) -> _Tensor:
        numbers = (offset, *shape, *strides)
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise pickle.UnpicklingError("it describes a tensor with negative sizes")
        return _Tensor(storage, offset, tuple(shape), tuple(strides))


class _RebuildParameter:
    """Stands in for `torch._utils._rebuild_parameter`."""

    __slots__ = ()

    def __call__(self, data: _Tensor, *_: object) -> _Tensor:
        return data


_KNOWN: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _RebuildTensor(),
    ("torch._utils", "_rebuild_parameter"): _RebuildParameter(),
}


class _WeightsOnlyUnpickler(pickle.Unpickler):
    """An unpickler to which no name is known but those that describe tensors."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a known name; refuse any other."""
        if (module, name) in _KNOWN:
            return _KNOWN[module, name]
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        raise pickle.UnpicklingError(f"it holds {module}.{name}, which is no tensor")

    def persistent_load(self, identifier: Any) -> _Storage:
        """Return the storage that a tensor points to."""
        kind, dtype, key, _, count, *view = identifier
        if kind != "storage" or not isinstance(dtype, np.dtype) or any(view):
            raise pickle.UnpicklingError("it describes a storage in an unknown way")
        return _Storage(str(key), dtype, int(count))


def read_torch_file(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a PyTorch file by name, without reading their values.

    Raises:
        ValueError: if the file is truncated, not a PyTorch file, or holds anything but tensors.
    """
    try:
        if zipfile.is_zipfile(path):
            described, read_storage = _open_zip(path)
        else:
            described, read_storage = _open_legacy(path)
        named = _named_tensors(described)
    except Exception as error:  # a damaged pickle can raise any exception
        raise ValueError(
            f"{path} cannot be read as a PyTorch weights file: {error or type(error).__name__}. "
            "If you trust its origin, load it in PyTorch and save it again as safetensors; "
            "if it is truncated, download it again."
        ) from error
    return {
        name: StoredTensor(name, tensor.shape, path, _Loader(path, tensor, read_storage))
        for name, tensor in named.items()
    }


def _named_tensors(described: Any) -> dict[str, _Tensor]:
    """Return the tensors of a state dictionary, also when it lies one level deeper."""
    if isinstance(described, dict) and isinstance(described.get("state_dict"), dict):
        described = described["state_dict"]
    if not isinstance(described, dict) or not described:
        raise pickle.UnpicklingError("it holds no dictionary of tensors")
    for name, tensor in described.items():
        if not isinstance(name, str) or not isinstance(tensor, _Tensor):
            raise pickle.UnpicklingError(f"its entry {name!r} is no tensor")
    return dict(described)


def _open_zip(path: Path) -> tuple[Any, Callable[[_Storage], bytes]]:
    with zipfile.ZipFile(path) as archive:
        members = archive.namelist()
        pickles = [member for member in members if member.endswith("data.pkl")]
        if len(pickles) != 1:
            raise pickle.UnpicklingError("its zip archive holds no single data.pkl")
        root = pickles[0].removesuffix("data.pkl")
        if f"{root}byteorder" in members and archive.read(f"{root}byteorder") != b"little":
            raise pickle.UnpicklingError("its values are not stored in little-endian order")
        with archive.open(pickles[0]) as file:
            described = _WeightsOnlyUnpickler(file).load()

    def read_storage(storage: _Storage) -> bytes:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"{root}data/{storage.key}")

    return described, read_storage


def _open_legacy(path: Path) -> tuple[Any, Callable[[_Storage], bytes]]:
    with path.open("rb") as file:
        if _WeightsOnlyUnpickler(file).load() != _LEGACY_MAGIC:
            raise pickle.UnpicklingError("it does not begin as PyTorch files do")
        protocol = _WeightsOnlyUnpickler(file).load()
        system = _WeightsOnlyUnpickler(file).load()
        if protocol != 1001 or system.get("little_endian") is not True:
            raise pickle.UnpicklingError("its format is not version 1001 in little-endian order")
        described = _WeightsOnlyUnpickler(file).load()
        keys = _WeightsOnlyUnpickler(file).load()
        offsets = _legacy_offsets(file, keys, _storages(described))

    def read_storage(storage: _Storage) -> bytes:
        with path.open("rb") as file:
            file.seek(offsets[storage.key])
            return file.read(storage.count * storage.dtype.itemsize)

    return described, read_storage


def _storages(described: Any) -> dict[str, _Storage]:
    return {tensor.storage.key: tensor.storage for tensor in _named_tensors(described).values()}


def _legacy_offsets(file: BinaryIO, keys: list[str], storages: dict[str, _Storage]) -> dict:
    """Return where the values of every storage begin; each follows its count as int64."""
    offsets = {}
    end = file.seek(0, 1)
    size = file.seek(0, 2)
    for key in keys:
        file.seek(end)
        (count,) = struct.unpack("<q", file.read(8))
        if count != storages[key].count:
            raise pickle.UnpicklingError("the sizes of its values disagree")
        offsets[key] = file.tell()
        end = offsets[key] + count * storages[key].dtype.itemsize
    if end > size:
        raise pickle.UnpicklingError("it ends before its last value")
    return offsets


class _Loader:
    """Reads one tensor of a file."""

    def __init__(
        self, path: Path, tensor: _Tensor, read_storage: Callable[[_Storage], bytes]
    ) -> None:
        self.path = path
        self.tensor = tensor
        self.read_storage = read_storage

    def __call__(self) -> np.ndarray:
        tensor = self.tensor
        try:
            values = np.frombuffer(self.read_storage(tensor.storage), tensor.storage.dtype)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.path} is truncated or damaged: {error}.") from error
        last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.strides, strict=True))
        if min(tensor.shape, default=1) and tensor.offset + last >= values.size:
            raise ValueError(f"{self.path} is damaged: a tensor reaches beyond its values.")
        strides = [step * values.itemsize for step in tensor.strides]
        view = np.lib.stride_tricks.as_strided(values[tensor.offset :], tensor.shape, strides)
        return np.ascontiguousarray(view)
