"""Writes a model as a Hugging Face folder that `transformers` loads."""

import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from kerazoo.conversion.huggingface_config import CONFIG_FILE, huggingface_config
from kerazoo.conversion.huggingface_tokenizer import check_vocabulary_fits
from kerazoo.conversion.loading import model_variables
from kerazoo.conversion.model_type import ModelType
from kerazoo.conversion.model_types import (
    BERT,
    TEXT_CLASSIFICATION,
    WITH_LABELS,
    model_type_to_write,
)
from kerazoo.conversion.name_map import NameMap, Rule
from kerazoo.conversion.new_folder import new_folder
from kerazoo.conversion.tokenizer_kinds import (
    kind_and_settings,
    special_token_ids,
    tokenizer_files,
)

WEIGHT_FILE = "model.safetensors"


def save_huggingface(
    model: Any,
    config: Any,
    folder: str | Path,
    tokenizer: Any = None,
    labels: Sequence[str] | None = None,
    head_dropout: float | None = None,
    family: str = BERT.family,
    task_name: str | None = None,
) -> None:
    """Write `config.json`, `model.safetensors` and the tokenizer's files.

    The folder appears whole or not at all. Reading a Hugging Face folder and writing it again
    gives the same tensors bit for bit.

    Args:
        model: a backbone, or a task on one.
        config: the backbone's config dataclass, or a dict of its fields; None is an error.
        folder: where to write; it must not exist, or be empty.
        tokenizer: the tokenizer, or a dict of the arguments of a `WordPieceTokenizer`; None writes
            none.
        labels: the label names of a classifier of texts or tokens; those of another task are not
            written.
        head_dropout: dropout rate before its head; None means that of the backbone.
        family: the backbone's family, "bert" or "gpt".
        task_name: the task's name; None is a text classifier if there are labels, else a bare
            backbone.

    Raises:
        FileExistsError: if the folder holds something already.
        ValueError: if Hugging Face's model has no equal task, no name for a weight or no field for
            a value, the model is quantized, or its backbone is another project's.
    """
    if config is None:
        raise ValueError(
            "A backbone of another project has no Hugging Face form here. "
            f"Received: {type(model.backbone).__name__} of KerasHub"
        )
    fields = config if isinstance(config, Mapping) else dataclasses.asdict(config)
    if task_name is None and labels is not None:
        task_name = TEXT_CLASSIFICATION
    labels = labels if task_name in WITH_LABELS else None
    if head_dropout == fields["dropout"]:
        head_dropout = None
    files: dict[str, str] = {}
    special_ids: dict[str, int | None] = {}
    if tokenizer is not None:
        kind, settings = kind_and_settings(tokenizer)
        check_vocabulary_fits(settings["vocabulary"], fields["vocabulary_size"], Path(folder))
        files = tokenizer_files(kind, settings, fields["max_sequence_length"])
        special_ids = special_token_ids(tokenizer)
    contents = huggingface_config(fields, labels, head_dropout, special_ids, family, task_name)
    model_type = model_type_to_write(family, fields)
    lacks = set(contents["architectures"]) & model_type.architectures_without_optional
    left_out = model_type.optional_targets if lacks else ()
    tensors = huggingface_tensors(model, task_name is not None, model_type, left_out)
    if labels is not None and len(labels) != tensors["classifier.bias"].shape[0]:
        raise ValueError(
            "There must be one label name for each class of the model. Received: "
            f"{len(labels)} labels, {tensors['classifier.bias'].shape[0]} classes"
        )
    files[CONFIG_FILE] = json.dumps(contents, ensure_ascii=False, indent=2) + "\n"
    with new_folder(folder) as temporary:
        for name, content in files.items():
            (temporary / name).write_text(content, encoding="utf-8", newline="")
        save_file(tensors, temporary / WEIGHT_FILE, metadata={"format": "pt"})


def huggingface_tensors(
    model: Any, with_head: bool, model_type: ModelType = BERT, left_out: Collection[str] = ()
) -> dict[str, np.ndarray]:
    """Return the weights of a model under Hugging Face's names, float32 and in its layout.

    Args:
        model: a backbone, or a task on one.
        with_head: whether it is a task; its backbone's names then begin with a prefix.
        model_type: what it is written as.
        left_out: variable paths that have no place there.

    Raises:
        ValueError: if a weight has no name there, or the model is quantized.
    """
    merged = _merged_kernels(model)
    prefix = model_type.prefix if with_head else ""
    parts: dict[str, list[np.ndarray]] = {}
    for variable in model_variables(model):
        path = variable.path
        if path in left_out or "lora_kernel" in path or "lora_embeddings" in path:
            continue
        names, source, rule = _find(path, model_type, with_head)
        values = _as_float32(merged.get(path, variable.value), path)
        values = values.T if rule.transpose else values
        name = (prefix if names is model_type.backbone_names else "") + source
        number, count = rule.part or (0, 1)
        parts.setdefault(name, [values] * count)[number] = values
    return {name: _joined(values) for name, values in parts.items()}


def _find(path: str, model_type: ModelType, with_head: bool) -> tuple[NameMap, str, Rule]:
    """Return the table that knows a variable, the name of its tensor, and the rule."""
    tables = [model_type.backbone_names, *([model_type.head_names] if with_head else [])]
    for names in tables:
        source, rule = names.to_source(path), names.rule_for_target(path)
        if source is not None and rule is not None:
            return names, source, rule
    raise ValueError(
        f"The model has a weight that Hugging Face's {model_type.title} has no name for, so it "
        f"cannot be written as one. Received: {path}"
    )


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1))


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
