"""The tensors of one `tf_model.h5` that transformers wrote from TensorFlow, under PyTorch's names.

Keras nested the datasets as `<layer>/<model>/<path of the variable>:0`, for example
`bert/tf_bert_model/bert/encoder/layer_._0/attention/self/query/kernel:0`. Sharded files
(`tf_model-00001-of-00002.h5`) hold `<path of the variable>:0` alone.
"""

from pathlib import Path

import h5py
import numpy as np

from kerazoo.conversion.stored_tensor import StoredTensor

_WEIGHT_NAMES = frozenset({"kernel", "embeddings", "gamma"})


def read_keras_h5(path: Path, sharded: bool = False) -> dict[str, StoredTensor]:
    """Return the tensors of a file by PyTorch's names and in PyTorch's layout, unread.

    Args:
        path: a `tf_model.h5` or one shard of it.
        sharded: whether the file is one shard; its names have two levels less.

    Raises:
        ValueError: if the file is truncated or not an HDF5 file.
    """
    datasets: dict[str, tuple[int, ...]] = {}

    def note(name: str, node: h5py.Dataset | h5py.Group) -> None:
        if isinstance(node, h5py.Dataset):
            datasets[name] = node.shape

    try:
        with h5py.File(path, "r") as file:
            file.visititems(note)
    except (OSError, RuntimeError) as error:
        raise ValueError(
            f"{path} is truncated or not an HDF5 file: {error}. Download or save it again."
        ) from error
    tensors: dict[str, StoredTensor] = {}
    for dataset, shape in datasets.items():
        name, transpose = _torch_name(dataset, sharded)
        loader = _Loader(path, dataset, name, transpose)
        # A tied matrix is stored once for each layer that uses it, with equal values.
        tensors.setdefault(name, StoredTensor(name, loader.shape(shape), path, loader))
    return tensors


def _torch_name(dataset: str, sharded: bool) -> tuple[str, bool]:
    """Return PyTorch's name for a dataset and whether PyTorch swaps its axes."""
    parts = dataset.removesuffix(":0").split("/")
    if not sharded:
        parts = parts[2:] if len(parts) > 2 else parts
    parts = [part.split("___")[-1] for part in parts]
    parts = [piece for part in parts for piece in part.split("_._")]
    transpose = parts[-1] == "kernel"
    if parts[-1] in _WEIGHT_NAMES:
        parts[-1] = "weight"
    elif parts[-1] == "beta":
        parts[-1] = "bias"
    return ".".join(parts), transpose


class _Loader:
    """Reads one dataset and gives it PyTorch's shape."""

    def __init__(self, path: Path, dataset: str, name: str, transpose: bool) -> None:
        self.path = path
        self.dataset = dataset
        self.name = name
        self.transpose = transpose

    def matrix_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape with the axes for heads (transformers 4.0 to 4.2) merged."""
        if self.transpose and len(shape) == 3:
            if ".output." in self.name:
                return (shape[0] * shape[1], shape[2])
            return (shape[0], shape[1] * shape[2])
        if self.name.endswith(".bias") and len(shape) == 2:
            return (shape[0] * shape[1],)
        return tuple(shape)

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape that the tensor will have when read."""
        merged = self.matrix_shape(shape)
        return merged[::-1] if self.transpose else merged

    def __call__(self) -> np.ndarray:
        try:
            with h5py.File(self.path, "r") as file:
                values = np.asarray(file[self.dataset])
        except (OSError, KeyError) as error:
            raise ValueError(f"{self.path} is truncated or damaged: {error}.") from error
        values = values.reshape(self.matrix_shape(values.shape))
        return np.ascontiguousarray(values.T) if self.transpose else values
