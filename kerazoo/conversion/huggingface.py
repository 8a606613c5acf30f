"""Writes a model as a Hugging Face folder that `transformers` loads."""

import dataclasses
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from kerazoo.conversion.bert_names import (
    HUGGINGFACE_BACKBONE,
    HUGGINGFACE_HEADS,
    HUGGINGFACE_PREFIX,
)
from kerazoo.conversion.huggingface_config import CONFIG_FILE, huggingface_config
from kerazoo.conversion.huggingface_tokenizer import check_vocabulary_fits, tokenizer_files
from kerazoo.conversion.loading import model_variables
from kerazoo.conversion.new_folder import new_folder

WEIGHT_FILE = "model.safetensors"
_TOKENIZER_ARGUMENTS = (
    *("lowercase", "strip_accents", "split_on_cjk", "max_characters_per_word"),
    *("oov_token", "cls_token", "sep_token", "pad_token", "mask_token"),
)
# Options of kerazoo's tokenizer that Hugging Face's does not have.
_OWN_OPTIONS = ("split_unknown", "map_quotes")


def save_huggingface(
    model: Any,
    config: Any,
    folder: str | Path,
    tokenizer: Any = None,
    labels: Sequence[str] | None = None,
    head_dropout: float | None = None,
) -> None:
    """Write `config.json`, `model.safetensors` and the tokenizer's files.

    The folder appears whole or not at all. Reading a Hugging Face folder and writing it again
    gives the same tensors bit for bit.

    Args:
        model: a BERT backbone, or a text classifier on one.
        config: the backbone's `BertConfig`, or a dict of its fields.
        folder: where to write; it must not exist, or be empty.
        tokenizer: the `WordPieceTokenizer`, or a dict of its arguments; None writes none.
        labels: the label names of a text classifier; None for a bare backbone.
        head_dropout: dropout rate before the head; None means that of the backbone.

    Raises:
        FileExistsError: if the folder holds something already.
        ValueError: if a weight has no name in Hugging Face's BERT, or the model is quantized.
    """
    fields = config if isinstance(config, Mapping) else dataclasses.asdict(config)
    tensors = huggingface_tensors(model, with_head=labels is not None)
    if labels is not None and len(labels) != tensors["classifier.bias"].shape[0]:
        raise ValueError(
            "There must be one label name for each class of the model. Received: "
            f"{len(labels)} labels, {tensors['classifier.bias'].shape[0]} classes"
        )
    files: dict[str, str] = {}
    pad_token_id = None
    if tokenizer is not None:
        settings = _tokenizer_settings(tokenizer)
        check_vocabulary_fits(settings["vocabulary"], fields["vocabulary_size"], Path(folder))
        files = tokenizer_files(settings, fields["max_sequence_length"])
        pad_token_id = settings["vocabulary"].index(settings["pad_token"])
    if head_dropout == fields["dropout"]:
        head_dropout = None
    contents = huggingface_config(fields, labels, pad_token_id, head_dropout)
    files[CONFIG_FILE] = json.dumps(contents, ensure_ascii=False, indent=2) + "\n"
    with new_folder(folder) as temporary:
        for name, content in files.items():
            (temporary / name).write_text(content, encoding="utf-8", newline="")
        save_file(tensors, temporary / WEIGHT_FILE, metadata={"format": "pt"})


def huggingface_tensors(model: Any, with_head: bool) -> dict[str, np.ndarray]:
    """Return the weights of a model under Hugging Face's names, float32 and in its layout.

    Args:
        model: a BERT backbone, or a text classifier on one.
        with_head: whether the model has a head; its backbone's names then begin with `bert.`.

    Raises:
        ValueError: if a weight has no name in Hugging Face's BERT, or the model is quantized.
    """
    merged = _merged_kernels(model)
    prefix = HUGGINGFACE_PREFIX if with_head else ""
    tensors = {}
    for variable in model_variables(model):
        path = variable.path
        if "lora_kernel" in path or "lora_embeddings" in path:
            continue
        names = HUGGINGFACE_BACKBONE if HUGGINGFACE_BACKBONE.to_source(path) else HUGGINGFACE_HEADS
        source, rule = names.to_source(path), names.rule_for_target(path)
        if source is None or rule is None or (names is HUGGINGFACE_HEADS and not with_head):
            raise ValueError(
                "The model has a weight that Hugging Face's BERT has no name for, so it cannot be "
                f"written as one. Received: {path}"
            )
        values = _as_float32(merged.get(path, variable.value), path)
        values = values.T if rule.transpose else values
        tensors[(prefix if names is HUGGINGFACE_BACKBONE else "") + source] = values
    return {name: np.ascontiguousarray(values) for name, values in tensors.items()}


def _merged_kernels(model: Any) -> dict[str, Any]:
    """Return, by path, the matrices into which LoRA's low-rank updates are added."""
    merged = {}
    layers = model._flatten_layers() if hasattr(model, "_flatten_layers") else ()
    for layer in layers:
        if getattr(layer, "lora_enabled", False):
            # Keras adds the update in these two properties.
            name = "embeddings" if hasattr(layer, "_embeddings") else "kernel"
            merged[getattr(layer, f"_{name}").path] = getattr(layer, name)
    return merged


def _as_float32(values: Any, path: str) -> np.ndarray:
    from keras import ops  # heavy, and only writing needs it

    array = np.asarray(ops.convert_to_numpy(values))
    if array.dtype.kind in "iu":
        raise ValueError(
            "A quantized model cannot be written as a Hugging Face folder; write the model before "
            f"quantizing it. Received: {path} of dtype {array.dtype}"
        )
    return array.astype(np.float32, copy=False)


def _tokenizer_settings(tokenizer: Any) -> dict[str, Any]:
    """Return the arguments that a tokenizer was made with, its vocabulary as a list."""
    if isinstance(tokenizer, Mapping):
        return dict(tokenizer)
    for option in _OWN_OPTIONS:
        if getattr(tokenizer, option, False):
            warnings.warn(
                f"Hugging Face's tokenizer has no option {option!r}; on texts where it matters "
                "the written tokenizer gives other ids.",
                stacklevel=3,
            )
    settings = {name: getattr(tokenizer, name) for name in _TOKENIZER_ARGUMENTS}
    return {"vocabulary": list(tokenizer.get_vocabulary()), **settings}
