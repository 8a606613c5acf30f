"""Turn one checkpoint format into another."""

from pathlib import Path
from typing import Any

from kerazoo.checks import check_one_of
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.new_folder import check_is_free, new_folder

FORMATS = ("kerazoo", "huggingface")
_TOKENIZER_FILE = "tokenizer.json"
_KINDS = {None: "backbone", "text-classification": "classifier", "causal-lm": "language model"}


def convert_checkpoint(source: str, destination: str, to: str = FORMATS[0]) -> dict[str, Any]:
    """Read a checkpoint in any format and write it in another.

    Args:
        source: a kerazoo preset, a Hugging Face folder, Google's TF1 BERT checkpoint, or an `hf://`
            handle.
        destination: the folder to create; it must not hold anything.
        to: "kerazoo" or "huggingface".

    Returns:
        A dict of `source`, `destination`, `format`, `kind` ("classifier", "language model",
        "backbone", or another task's name) and `report`, the load report as text, None for a
        kerazoo preset.

    Raises:
        FileNotFoundError: if there is no such checkpoint.
        FileExistsError: if the destination holds something.
        ValueError: if the checkpoint is damaged or lacks a weight.
    """
    check_one_of("to", to, FORMATS)
    check_is_free(Path(destination))
    model, tokenizer = _load(source)
    with new_folder(destination) as folder:
        if to == "huggingface":
            _write_huggingface(model, tokenizer, folder)
        else:
            model.save_to_preset(str(folder))
            if tokenizer is not None:
                tokenizer.save_to_preset(str(folder))
    report = model.load_report
    task_name = getattr(model, "task_name", None)
    return {
        "source": source,
        "destination": destination,
        "format": to,
        "kind": _KINDS.get(task_name, task_name),
        "report": None if report is None else str(report),
    }


def _load(preset: str) -> tuple[Any, Any]:
    """Return a task, or a backbone if there is none and its tokenizer if it has one."""
    from kerazoo.backbones.registry import backbone_class
    from kerazoo.conversion.source import open_checkpoint
    from kerazoo.tasks.registry import saved_task_name, task_class

    source = open_checkpoint(preset)
    is_kerazoo = source.format == "kerazoo"
    task_name = saved_task_name(source.folder) if is_kerazoo else source.task_name()
    if task_name is not None and (is_kerazoo or _has_what_it_needs(source, task_name)):
        return task_class(task_name).from_preset(source), None
    if is_kerazoo:
        _check_is_no_kerashub_preset(source.folder)
    backbone = backbone_class(source.family).from_preset(source)
    try:
        return backbone, _saved_tokenizer(source.folder) if is_kerazoo else source.tokenizer()
    except FileNotFoundError:
        return backbone, None


def _check_is_no_kerashub_preset(folder: Path) -> None:
    """Raise ValueError for a preset of a backbone of KerasHub."""
    saved = read_json_object(folder / "config.json")
    if not str(saved.get("registered_name", "kerazoo>")).startswith("kerazoo>"):
        raise ValueError(
            f"{folder} holds a backbone of KerasHub, which computes other numbers than kerazoo's. "
            "`kerazoo finetune` trains it as it is; convert the checkpoint that it was made of. "
            f"Received: {saved['class_name']} of KerasHub"
        )


def _has_what_it_needs(source: Any, task_name: str) -> bool:
    """Return False for a language model without tokenizer: its head is in the backbone."""
    if task_name != "causal-lm":
        return True
    try:
        source.tokenizer_settings()
    except FileNotFoundError:
        return False
    return True


def _saved_tokenizer(folder: Path) -> Any:
    """Read the tokenizer of a preset."""
    from kerazoo.tokenizers.saved_tokenizer import saved_tokenizer

    # KerasHub's own way looks for one tokenizer class for each backbone class.
    return saved_tokenizer(read_json_object(folder / _TOKENIZER_FILE), folder)


def _write_huggingface(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a task with its head, or a backbone with its tokenizer."""
    if hasattr(model, "task_name"):
        try:
            model.export_to_transformers(folder)
        except TypeError as error:
            raise ValueError(
                f"A model for {model.task_name} has no Hugging Face form and stays a preset. "
                "In Python, `task.backbone.export_to_transformers(path)` writes its backbone."
            ) from error
        return
    from kerazoo.conversion.huggingface import save_huggingface

    save_huggingface(model, model.config, folder, tokenizer=tokenizer, family=model.family)
