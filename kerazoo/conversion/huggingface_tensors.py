"""The tensors of a Hugging Face folder under canonical names: no prefix, no old spellings."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from kerazoo.conversion.checkpoint_files import read_tensors
from kerazoo.conversion.huggingface_config import read_architectures, read_model_type
from kerazoo.conversion.loading import Checkpoint
from kerazoo.conversion.model_type import ModelType
from kerazoo.conversion.name_map import split_layer
from kerazoo.conversion.stored_tensor import StoredTensor

_OLD_NAMES = {"gamma": "weight", "beta": "bias"}


def open_huggingface(folder: Path) -> Checkpoint:
    """Open the weights of a Hugging Face folder.

    Raises:
        FileNotFoundError: if there are no weights, or a shard is missing.
        ValueError: if a file is damaged, the names carry an unknown prefix, or the model has an
            output matrix of its own where kerazoo's takes the token embedding.
    """
    model_type = read_model_type(folder)
    stored = read_tensors(folder)
    prefix = _find_prefix(stored, folder, model_type)
    tensors: dict[str, StoredTensor] = {}
    for name, tensor in stored.items():
        canonical = _modern_name(name.removeprefix(prefix))
        if split_layer(canonical)[0] in model_type.ignored:
            continue
        if canonical in tensors:
            raise ValueError(
                f"{folder} holds two tensors for one weight. "
                f"Received: {tensors[canonical].name!r} and {name!r}"
            )
        tensors[canonical] = tensor
    if model_type.tied is not None:
        _take_out_tied(tensors, folder, *model_type.tied)
    names = model_type.architectures_without_optional
    may_lack = bool(names.intersection(read_architectures(folder)))
    return Checkpoint(
        folder=folder,
        tensors=tensors,
        backbone_names=model_type.backbone_names,
        head_names=model_type.head_names,
        optional_targets=model_type.optional_targets if may_lack else (),
    )


def _modern_name(name: str) -> str:
    """Return a name with the layer norms' old `gamma` and `beta` as `weight` and `bias`."""
    stem, _, last = name.rpartition(".")
    return f"{stem}.{_OLD_NAMES[last]}" if last in _OLD_NAMES else name


def _take_out_tied(
    tensors: dict[str, StoredTensor], folder: Path, matrix: str, embedding: str
) -> None:
    """Remove the output matrix, which must be the token embedding again.

    Raises:
        ValueError: if it is another one.
    """
    stored, tokens = tensors.pop(matrix, None), tensors.get(embedding)
    if stored is None or tokens is None:
        return
    if stored.shape != tokens.shape or not np.array_equal(stored.read(), tokens.read()):
        raise ValueError(
            f"The model in {folder} has an output matrix of its own (tie_word_embeddings=false): "
            f"{stored.name!r} differs from {tokens.name!r}. kerazoo's GPT reads the token "
            "embedding as its output matrix, so its logits would be other ones."
        )


def _find_prefix(names: Mapping[str, object], folder: Path, model_type: ModelType) -> str:
    """Return the prefix of the backbone's names: the model type's or none."""
    for prefix in (model_type.prefix, ""):
        own = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        if _any_of_backbone(own, model_type):
            return prefix
    first_words = "|".join(map(re.escape, sorted(model_type.backbone_names.first_words())))
    for name in names:
        found = re.search(rf"^(.+\.)(({first_words})\..+)$", name)
        if found and _any_of_backbone([found.group(2)], model_type):
            raise ValueError(
                f"The weights in {folder} carry an unknown prefix; kerazoo reads "
                f"{model_type.prefix!r} or none. Rename them, or save the inner "
                f"{model_type.title} model by itself. "
                f"Received: prefix={found.group(1)!r} in {name!r}"
            )
    return ""


def _any_of_backbone(names: Iterable[str], model_type: ModelType) -> bool:
    return any(model_type.backbone_names.to_targets(_modern_name(name)) for name in names)
