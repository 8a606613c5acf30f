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
    refused = _take_out_tied(tensors, folder, model_type)
    names = model_type.architectures_without_optional
    may_lack = bool(names.intersection(read_architectures(folder)))
    return Checkpoint(
        folder=folder,
        tensors=tensors,
        backbone_names=model_type.backbone_names,
        head_names=model_type.head_names,
        optional_targets=model_type.optional_targets if may_lack else (),
        refused=refused,
    )


def _modern_name(name: str) -> str:
    """Return a name with the layer norms' old `gamma` and `beta` as `weight` and `bias`."""
    stem, _, last = name.rpartition(".")
    return f"{stem}.{_OLD_NAMES[last]}" if last in _OLD_NAMES else name


def _take_out_tied(
    tensors: dict[str, StoredTensor], folder: Path, model_type: ModelType
) -> dict[str, str]:
    """Remove tensors that are others once more; one that stands alone takes the other's name.

    Returns:
        For each variable that only a wrong model could be given, a sentence that says why.

    Raises:
        ValueError: if a tensor that every model computes with differs from the other one.
    """
    refused = {}
    for tied in model_type.tied:
        stored, other = tensors.get(tied.name), tensors.get(tied.equal_to)
        if stored is None:
            continue
        if other is None or _are_equal(stored, other):
            tensors[tied.equal_to] = other or stored
            del tensors[tied.name]
            continue
        message = (
            f"The model in {folder} has an output matrix or bias of its own "
            f"(tie_word_embeddings=false): {stored.name!r} differs from {other.name!r}. kerazoo's "
            f"{model_type.family.upper()} reads the latter in its place, so its logits would be "
            "other ones."
        )
        if tied.needed_by is None:
            raise ValueError(message)
        refused[tied.needed_by] = message
    return refused


def _are_equal(stored: StoredTensor, other: StoredTensor) -> bool:
    return stored.shape == other.shape and np.array_equal(stored.read(), other.read())


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
