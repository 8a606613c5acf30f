"""Read the signature table of a SavedModel from its file, without loading the model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from kerazoo.export.version_folder import SAVED_MODEL_FILE

SERVE_TAG = "serve"
# The loader's own entry: it restores tables, and no request can call it.
INITIALISER_SIGNATURE = "__saved_model_init_op"


@dataclass(frozen=True)
class SignatureTensor:
    """One input or output of a signature.

    Attributes:
        name: The key in requests and answers.
        tensor: The tensor's name in the graph, ``""`` where it is not one dense tensor.
        dtype: TensorFlow's name of the type, such as ``"string"``; ``"ragged or sparse"`` where it
            is not one dense tensor.
        shape: The sizes, None for an open one; None altogether where even the rank is unknown.
    """

    name: str
    tensor: str
    dtype: str
    shape: tuple[int | None, ...] | None

    @property
    def is_dense(self) -> bool:
        """Whether this is one dense tensor (and not ragged or sparse)."""
        return bool(self.tensor)

    def __str__(self) -> str:
        """Returns the form used in reports: ``text: (batch,) string``."""
        if self.shape is None:
            return f"{self.name}: (unknown rank) {self.dtype}"
        sizes = ["?" if size is None else str(size) for size in self.shape]
        if self.shape and self.shape[0] is None:
            sizes[0] = "batch"
        inside = ", ".join(sizes) + ("," if len(sizes) == 1 else "")
        return f"{self.name}: ({inside}) {self.dtype}"

    def to_dict(self) -> dict[str, Any]:
        """Returns what a JSON report says of the tensor."""
        shape = None if self.shape is None else list(self.shape)
        return {"dtype": self.dtype, "shape": shape}


@dataclass(frozen=True)
class Signature:
    """One entry point of a SavedModel: its name, its inputs and its outputs by key."""

    name: str
    inputs: dict[str, SignatureTensor]
    outputs: dict[str, SignatureTensor]

    def __str__(self) -> str:
        """Returns the form used in reports: ``serving_default: text: … -> label: …``."""
        inputs = "; ".join(str(tensor) for tensor in self.inputs.values())
        outputs = "; ".join(str(tensor) for tensor in self.outputs.values())
        return f"{self.name}: {inputs or 'no input'} -> {outputs or 'no output'}"

    def to_dict(self) -> dict[str, Any]:
        """Returns what a JSON report says of the signature."""
        return {
            "name": self.name,
            "inputs": {name: tensor.to_dict() for name, tensor in self.inputs.items()},
            "outputs": {name: tensor.to_dict() for name, tensor in self.outputs.items()},
        }


def read_meta_graph(version_dir: str | Path) -> Any:
    """Reads the graph a server would load.

    Args:
        version_dir: The folder that holds ``saved_model.pb``.

    Returns:
        The ``MetaGraphDef`` whose tags are exactly ``serve``.

    Raises:
        FileNotFoundError: If the folder has no ``saved_model.pb``.
        ValueError: If the file is damaged or holds no graph for serving.
    """
    file = Path(version_dir) / SAVED_MODEL_FILE
    if not file.is_file():
        raise FileNotFoundError(
            f"The folder has no {SAVED_MODEL_FILE}, so it is not a SavedModel. "
            f"Received: version_dir={version_dir}"
        )
    saved_model = saved_model_pb2.SavedModel()
    try:
        saved_model.ParseFromString(file.read_bytes())
    except DecodeError as error:
        raise ValueError(
            f"{SAVED_MODEL_FILE} is damaged or cut short; export the model again. "
            f"Received: file={file}"
        ) from error
    tag_sets = [sorted(graph.meta_info_def.tags) for graph in saved_model.meta_graphs]
    for graph, tags in zip(saved_model.meta_graphs, tag_sets, strict=True):
        if tags == [SERVE_TAG]:
            return graph
    raise ValueError(
        f"No graph in {SAVED_MODEL_FILE} has the one tag '{SERVE_TAG}', and a server loads no "
        f"other; export the model again with that tag. Received: file={file}, tags={tag_sets}"
    )


def signature_table(meta_graph: Any) -> dict[str, Signature]:
    """Returns the callable signatures of a ``MetaGraphDef`` by name, sorted by name."""
    return {
        name: Signature(
            name,
            inputs=_tensors(definition.inputs),
            outputs=_tensors(definition.outputs),
        )
        for name, definition in sorted(meta_graph.signature_def.items())
        if name != INITIALISER_SIGNATURE
    }


def read_signatures(version_dir: str | Path) -> dict[str, Signature]:
    """Reads the callable signatures of a SavedModel by name; see `read_meta_graph` for errors."""
    return signature_table(read_meta_graph(version_dir))


def _tensors(table: Any) -> dict[str, SignatureTensor]:
    return {name: _tensor(name, info) for name, info in sorted(table.items())}


def _tensor(name: str, info: Any) -> SignatureTensor:
    if info.WhichOneof("encoding") != "name":
        return SignatureTensor(name, tensor="", dtype="ragged or sparse", shape=None)
    shape = None
    if not info.tensor_shape.unknown_rank:
        sizes = (dimension.size for dimension in info.tensor_shape.dim)
        shape = tuple(None if size < 0 else int(size) for size in sizes)
    return SignatureTensor(name, info.name, tf.dtypes.as_dtype(info.dtype).name, shape)
