"""The tensors of a Hugging Face BERT folder under canonical names: no prefix, no old spellings."""

import re
from collections.abc import Iterable
from pathlib import Path

from kerazoo.conversion.bert_names import (
    ARCHITECTURES_WITHOUT_POOLER,
    HUGGINGFACE_BACKBONE,
    HUGGINGFACE_HEADS,
    HUGGINGFACE_PREFIX,
    IGNORED_BUFFERS,
    POOLER_TARGETS,
)
from kerazoo.conversion.checkpoint_files import read_tensors
from kerazoo.conversion.huggingface_config import read_architectures
from kerazoo.conversion.loading import Checkpoint
from kerazoo.conversion.stored_tensor import StoredTensor

_OLD_NAMES = {"gamma": "weight", "beta": "bias"}


def open_huggingface(folder: Path) -> Checkpoint:
    """Open the weights of a Hugging Face BERT folder.

    Raises:
        FileNotFoundError: if there are no weights, or a shard is missing.
        ValueError: if a file is damaged or the names carry an unknown prefix.
    """
    stored = read_tensors(folder)
    prefix = _find_prefix(stored, folder)
    tensors: dict[str, StoredTensor] = {}
    for name, tensor in stored.items():
        canonical = _modern_name(name.removeprefix(prefix))
        if canonical in IGNORED_BUFFERS:
            continue
        if canonical in tensors:
            raise ValueError(
                f"{folder} holds two tensors for one weight. "
                f"Received: {tensors[canonical].name!r} and {name!r}"
            )
        tensors[canonical] = tensor
    has_no_pooler = any(a in ARCHITECTURES_WITHOUT_POOLER for a in read_architectures(folder))
    return Checkpoint(
        folder=folder,
        tensors=tensors,
        backbone_names=HUGGINGFACE_BACKBONE,
        head_names=HUGGINGFACE_HEADS,
        optional_targets=POOLER_TARGETS if has_no_pooler else (),
    )


def _modern_name(name: str) -> str:
    """Return a name with the layer norms' old `gamma` and `beta` as `weight` and `bias`."""
    stem, _, last = name.rpartition(".")
    return f"{stem}.{_OLD_NAMES[last]}" if last in _OLD_NAMES else name


def _find_prefix(names: Iterable[str], folder: Path) -> str:
    """Return the prefix of the backbone's names: `bert.` or none."""
    names = list(names)
    for prefix in (HUGGINGFACE_PREFIX, ""):
        own = [name for name in names if name.startswith(prefix)]
        if any(_is_backbone_name(name.removeprefix(prefix)) for name in own):
            return prefix
    for name in names:
        found = re.search(r"^(.+\.)((embeddings|encoder|pooler)\..+)$", name)
        if found and _is_backbone_name(found.group(2)):
            raise ValueError(
                f"The weights in {folder} carry an unknown prefix; kerazoo reads 'bert.' or none. "
                f"Rename them, or save the inner BERT model by itself. "
                f"Received: prefix={found.group(1)!r} in {name!r}"
            )
    return ""


def _is_backbone_name(name: str) -> bool:
    return HUGGINGFACE_BACKBONE.to_target(_modern_name(name)) is not None
