"""The weight files of a Hugging Face folder: which there are, and the tensors in them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.keras_h5_file import read_keras_h5
from kerazoo.conversion.safetensors_file import read_safetensors
from kerazoo.conversion.stored_tensor import StoredTensor
from kerazoo.conversion.torch_file import read_torch_file

_Reader = Callable[[Path], dict[str, StoredTensor]]
_LFS_POINTER = b"version https://git-lfs"

# In the order of preference; an index stands for the shards that it names.
_WEIGHT_FILES: tuple[tuple[str, _Reader], ...] = (
    ("model.safetensors", read_safetensors),
    ("model.safetensors.index.json", read_safetensors),
    ("pytorch_model.bin", read_torch_file),
    ("pytorch_model.bin.index.json", read_torch_file),
    ("tf_model.h5", read_keras_h5),
    ("tf_model.h5.index.json", partial(read_keras_h5, sharded=True)),
)
WEIGHT_FILE_NAMES = tuple(name for name, _ in _WEIGHT_FILES)
"""Names of the files (or of their index) that can hold the weights, best first."""


def find_weight_file(folder: Path) -> Path | None:
    """Return the file, or the index of shards, that kerazoo reads the weights from."""
    for name in WEIGHT_FILE_NAMES:
        if (folder / name).is_file():
            return folder / name
    return None


def read_tensors(folder: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a Hugging Face folder by name, without reading their values.

    Safetensors are preferred to PyTorch's files, and those to TensorFlow's; every form may be
    sharded. Names and layout are PyTorch's in all three.

    Raises:
        FileNotFoundError: if there is no weight file, or a shard is missing.
        ValueError: if a file is damaged, or is only a pointer left by Git LFS.
    """
    path = find_weight_file(folder)
    if path is None:
        raise FileNotFoundError(
            f"{folder} holds no weights. Expected one of: {', '.join(WEIGHT_FILE_NAMES)}."
        )
    read = dict(_WEIGHT_FILES)[path.name]
    files = _shards(path) if path.name.endswith(".index.json") else [path]
    tensors: dict[str, StoredTensor] = {}
    for file in files:
        _check_is_no_pointer(file)
        tensors.update(read(file))
    return tensors


def _shards(index: Path) -> list[Path]:
    """Return the files that an index names, each once."""
    weight_map = read_json_object(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ValueError(f"{index} must hold a `weight_map` of tensor names and file names.")
    names = sorted({str(name) for name in weight_map.values()})
    for name in names:
        if Path(name).name != name:
            raise ValueError(f"{index} names a file outside its folder. Received: {name!r}")
        if not (index.parent / name).is_file():
            raise FileNotFoundError(
                f"{index} names the shard {name}, which is not in {index.parent}. "
                "Download the missing file."
            )
    return [index.parent / name for name in names]


def _check_is_no_pointer(path: Path) -> None:
    with path.open("rb") as file:
        beginning = file.read(len(_LFS_POINTER))
    if not beginning:
        raise ValueError(f"{path} is empty. Download or save it again.")
    if beginning == _LFS_POINTER:
        raise ValueError(
            f"{path} is a pointer left by Git LFS, not the weights. Run `git lfs pull` in "
            f"{path.parent}."
        )
