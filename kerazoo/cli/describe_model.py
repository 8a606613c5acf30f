"""Say what a saved model is, without loading its weights."""

from pathlib import Path
from typing import Any

from kerazoo.backbones.sizes import SIZES
from kerazoo.cli.parameter_count import parameter_count
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.source import CheckpointSource, open_checkpoint
from kerazoo.conversion.tokenizer_kinds import TASK_TOKENS, title_of_class, title_of_kind
from kerazoo.export.description import DESCRIPTION_FILE
from kerazoo.export.version_folder import find_version_folder, is_version_name
from kerazoo.tasks.registry import TASKS
from kerazoo.training.predictor import is_saved_model

_SHAPE = ("num_layers", "num_heads", "hidden_dim", "intermediate_dim", "vocabulary_size")
_OUTPUTS = {  # of heads without labels
    **dict.fromkeys(("text-similarity", "multiple-choice"), 1),
    **dict.fromkeys(("next-sentence", "bert-pretraining"), 2),
}
_MASKED_WORDS = ("masked-lm", "bert-pretraining")
_FORMAT_NAMES = {
    "kerazoo": "kerazoo preset",
    "huggingface": "Hugging Face folder",
    "google_tf1": "Google TF1 checkpoint",
}


def describe_model(model: str | Path) -> dict[str, Any]:
    """Describe a preset, a foreign checkpoint or a SavedModel.

    Args:
        model: a folder, or an `hf://` handle.

    Returns:
        A dict that JSON can hold. Of a checkpoint: `format`, `path`, `family`, `size` (its name,
        if it has one), `task`, `labels`, `crf` (of a token classifier), `pairs`, `parameters`, the
        sizes of its config, and `tokenizer`. Of a SavedModel: `format`, `path`, `versions`,
        `task`, `labels`, `signatures`. What is not known is None.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it holds no model, or its config is damaged.
    """
    if is_saved_model(model):
        return _saved_model(Path(model))
    source = open_checkpoint(model)
    return _preset(source) if source.format == "kerazoo" else _foreign(source)


def _preset(source: CheckpointSource) -> dict[str, Any]:
    """Describe a kerazoo preset, or another preset that KerasHub wrote."""
    folder = source.folder
    task = read_json_object(folder / "task.json") if (folder / "task.json").is_file() else {}
    packing = _first(folder, "preprocessor.json", "tokenizer.json")
    tokenizer = packing.get("config", {}).get("tokenizer", packing)
    task_names = {class_name: name for name, (_, class_name) in TASKS.items()}
    class_name, settings = task.get("class_name"), task.get("config", {})
    return {
        "format": _FORMAT_NAMES["kerazoo"],
        "path": str(folder),
        **_model(
            read_json_object(folder / "config.json")["config"],
            family=source.family,
            task=task_names.get(class_name or "", class_name),
            labels=settings.get("labels") or None,
            crf=bool(settings.get("crf")),
        ),
        **({"crf": settings["crf"]} if "crf" in settings else {}),
        "pairs": settings.get("pairs"),
        "sequence_length": packing.get("config", {}).get("sequence_length"),
        "tokenizer": _preset_tokenizer(folder, tokenizer),
    }


def _foreign(source: CheckpointSource) -> dict[str, Any]:
    """Describe a Hugging Face folder or a Google TF1 checkpoint."""
    return {
        "format": _FORMAT_NAMES[source.format],
        "path": str(source.folder),
        **_model(
            source.backbone_config(),
            family=source.family,
            task=source.task_name(),
            labels=source.labels(),
        ),
        "tokenizer": _foreign_tokenizer(source),
    }


def _foreign_tokenizer(source: CheckpointSource) -> dict[str, Any] | None:
    """Describe the tokenizer of a foreign checkpoint; None if it has none."""
    try:
        kind, settings = source.tokenizer_kind_and_settings()
    except FileNotFoundError:
        return None
    return _tokenizer(title_of_kind(kind), len(settings["vocabulary"]), settings)


def _model(
    config: dict[str, Any],
    family: str,
    task: str | None,
    labels: list[str] | None,
    crf: bool = False,
) -> dict[str, Any]:
    """Describe a backbone and its head by the config's numbers."""
    # A score for each move from tag to tag, for each first tag, for each last one.
    moves = len(labels) * (len(labels) + 2) if crf and labels else 0
    names = [
        name
        for name, size in SIZES.get(family, {}).items()
        if all(config.get(key) == value for key, value in size.items())
    ]
    known = family in SIZES
    return {
        "family": family,
        "size": names[0] if names else None,
        "task": task,
        "labels": labels,
        "parameters": (
            parameter_count(family, config, _units(task, labels), task in _MASKED_WORDS) + moves
            if known
            else None
        ),
        **{name: config.get(name) for name in _SHAPE},
        "max_sequence_length": config.get("max_sequence_length"),
    }


def _units(task: str | None, labels: list[str] | None) -> int:
    """Return the outputs of a task's head; 0 if it has no weights of its own."""
    return len(labels) if labels else _OUTPUTS.get(task or "", 0)


def _preset_tokenizer(folder: Path, saved: dict[str, Any]) -> dict[str, Any] | None:
    """Describe the tokenizer of a preset."""
    assets = folder / "assets" / "tokenizer"
    if (assets / "vocabulary.txt").is_file():
        lines = (assets / "vocabulary.txt").read_bytes().removesuffix(b"\n")
        tokens = lines.count(b"\n") + 1
    elif (assets / "vocabulary.json").is_file():
        tokens = len(read_json_object(assets / "vocabulary.json"))
    else:
        return None
    return _tokenizer(title_of_class(saved["class_name"]), tokens, saved["config"])


def _tokenizer(title: str, tokens: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Describe a tokenizer by its class's arguments."""
    lowercase = {name: settings[name] for name in ("lowercase",) if name in settings}
    added = TASK_TOKENS if settings.get("task_tokens") else 0
    return {"kind": title, "tokens": tokens + added, **lowercase}


def _saved_model(path: Path) -> dict[str, Any]:
    """Describe a SavedModel: its description file and its signature table."""
    from kerazoo.export.signatures import read_signatures

    folder = find_version_folder(path)
    file = folder / DESCRIPTION_FILE
    description = read_json_object(file) if file.is_file() else {}
    versions = None
    if folder != path:
        names = (child.name for child in path.iterdir() if child.is_dir())
        versions = sorted((name for name in names if is_version_name(name)), key=int)
    return {
        "format": "SavedModel",
        "path": str(folder),
        "versions": versions,
        "task": description.get("task"),
        "labels": description.get("labels"),
        "signatures": [str(signature) for signature in read_signatures(folder).values()],
    }


def _first(folder: Path, *names: str) -> dict[str, Any]:
    """Read the first of some JSON files that is there; {} if none is."""
    for name in names:
        if (folder / name).is_file():
            return read_json_object(folder / name)
    return {}
