"""Read a task from a preset of any format: kerazoo's own, Hugging Face's, or Google's TF1."""

from pathlib import Path
from typing import Any, TypeVar

import keras
import keras_nlp

import kerazoo
from kerazoo.backbones.base import quantized_dtype
from kerazoo.backbones.registry import backbone_class
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.preset_weights import check_preset_weights
from kerazoo.conversion.source import CheckpointSource, open_checkpoint
from kerazoo.preprocessing.base import Preprocessor
from kerazoo.tasks.saved_task import (
    PREPROCESSOR_FILE,
    default_sequence_length,
    saved_arguments,
)
from kerazoo.tasks.shared_heads import HEAD_FILE, load_shared_heads
from kerazoo.tasks.task_tokens import lacks_task_token_rows, with_task_token_rows
from kerazoo.tokenizers.saved_tokenizer import saved_tokenizer

TaskType = TypeVar("TaskType", bound=Any)


def load_task(
    task_class: type[TaskType],
    preset: str | Path | CheckpointSource,
    load_weights: bool = True,
    dtype: Any = None,
    **arguments: Any,
) -> TaskType:
    """Read a task, or a backbone to put a new head on; see `Task.from_preset`.

    Args:
        task_class: the kerazoo task to create.
        preset: a folder, a handle, or an opened source.
        load_weights: bool, read the weights.
        dtype: dtype policy of the backbone; None is the saved or the global one.
        **arguments: constructor arguments, and the task's `preprocessor_arguments`.
    """
    kerazoo.register_classes()
    source = open_checkpoint(preset)
    packing = {
        key: arguments.pop(key) for key in task_class.preprocessor_arguments if key in arguments
    }
    read = _from_kerazoo if source.format == "kerazoo" else _from_foreign
    return read(task_class, source, load_weights, dtype, packing, arguments)


def _from_kerazoo(
    task_class: type[TaskType],
    source: CheckpointSource,
    load_weights: bool,
    dtype: Any,
    packing: dict[str, Any],
    arguments: dict[str, Any],
) -> TaskType:
    folder = source.folder
    if load_weights:
        check_preset_weights(folder)
    backbone = keras_nlp.models.Backbone.from_preset(
        str(folder), load_weights=load_weights, dtype=dtype or quantized_dtype(folder)
    )
    # Saved while it was frozen? The task says anew whether it is.
    backbone.trainable = True
    if arguments.get("preprocessor") is None:
        limit = source.max_sequence_length
        arguments["preprocessor"] = _saved_preprocessor(task_class, folder, packing, limit)
    if task_class.needs_task_tokens and arguments["preprocessor"] is not None:
        backbone = with_task_token_rows(backbone, arguments["preprocessor"].tokenizer)
    saved = saved_arguments(task_class, source)
    task = task_class(backbone=backbone, **task_class.merge_config(saved, arguments))
    if load_weights and task.has_task_weights():
        _load_head(task, folder, saved)
    return task


def _load_head(task: Any, folder: Path, saved: dict[str, Any]) -> None:
    """Read the head, if the preset has one that fits."""
    if saved and (task.has_fixed_head or task.same_head(saved, task)):
        check_preset_weights(folder, HEAD_FILE)
        task.load_task_weights(folder / HEAD_FILE)
    elif not saved and task.has_fixed_head:
        load_shared_heads(task, folder)


def _saved_preprocessor(
    task_class: Any,
    folder: Path,
    packing: dict[str, Any],
    limit: int | None,
) -> Preprocessor | None:
    """Read the preset's preprocessor, or build one on its tokenizer; None if it has neither."""
    files = [folder / name for name in (PREPROCESSOR_FILE, "tokenizer.json")]
    file = next((file for file in files if file.exists()), None)
    if file is None:
        return None
    saved = read_json_object(file)
    if saved["class_name"] == task_class.preprocessor_cls.__name__:
        saved["config"].update(packing)
        if "labels" in saved["config"]:
            saved["config"]["labels"] = None
        layer = keras.saving.deserialize_keras_object(saved)
        layer.load_preset_assets(str(folder))
        return layer
    return _new_preprocessor(task_class, saved_tokenizer(saved, folder), packing, limit)


def _from_foreign(
    task_class: type[TaskType],
    source: CheckpointSource,
    load_weights: bool,
    dtype: Any,
    packing: dict[str, Any],
    arguments: dict[str, Any],
) -> TaskType:
    backbone = backbone_class(source.family)(**source.backbone_config(), dtype=dtype)
    if arguments.get("preprocessor") is None:
        limit = backbone.config.max_sequence_length
        preprocessor = _new_preprocessor(task_class, source.tokenizer(), packing, limit)
        arguments["preprocessor"] = preprocessor
    report = None
    tokenizer = arguments["preprocessor"].tokenizer
    if task_class.needs_task_tokens and lacks_task_token_rows(backbone, tokenizer):
        # The checkpoint's own matrix is read before it grows; its head, if any, never saw the new
        # tokens.
        report = source.load_backbone(backbone) if load_weights else None
        backbone = with_task_token_rows(backbone, tokenizer)
    saved = saved_arguments(task_class, source)
    task = task_class(backbone=backbone, **task_class.merge_config(saved, arguments))
    if load_weights:
        with_head = task_class.has_fixed_head or task_class.same_head(saved, task)
        task.load_report = report or source.load_task(task, with_head=with_head)
        backbone.load_report = task.load_report
    return task


def _new_preprocessor(
    task_class: Any,
    tokenizer: Any,
    packing: dict[str, Any],
    limit: int | None,
) -> Preprocessor:
    if task_class.needs_task_tokens and getattr(tokenizer, "task_tokens", True) is False:
        tokenizer = tokenizer.with_task_tokens()
    packing = {"sequence_length": default_sequence_length(limit), **packing}
    return task_class.preprocessor_cls(tokenizer, **packing)
