"""Say what a saved model is, without loading its weights."""

from pathlib import Path
from typing import Any

from kerazoo.backbones.sizes import SIZES
from kerazoo.cli.parameter_count import bert_parameter_count
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.source import CheckpointSource, open_checkpoint
from kerazoo.export.version_folder import find_version_folder, is_version_name
from kerazoo.tasks.registry import TASKS
from kerazoo.training.predictor import is_saved_model

_SHAPE = ("num_layers", "num_heads", "hidden_dim", "intermediate_dim", "vocabulary_size")
_FORMAT_NAMES = {
    "kerazoo": "kerazoo preset",
    "huggingface": "Hugging Face folder",
    "google_tf1": "Google TF1 checkpoint",
}
_TEXT_CLASSIFICATION = "text-classification"


def describe_model(model: str | Path) -> dict[str, Any]:
    """Describe a preset, a foreign checkpoint or a SavedModel.

    Args:
        model: a folder, or an `hf://` handle.

    Returns:
        A dict that JSON can hold. Of a checkpoint: `format`, `path`, `family`, `size` (its name,
        if it has one), `task`, `labels`, `pairs`, `parameters`, the sizes of its config, and
        `tokenizer`. Of a SavedModel: `format`, `path`, `versions`, `task`, `labels`,
        `signatures`. What is not known is None.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it holds no model, or its config is damaged.
    """
    if is_saved_model(model):
        return _saved_model(Path(model))
    source = open_checkpoint(model)
    return _preset(source.folder) if source.format == "kerazoo" else _foreign(source)


def _preset(folder: Path) -> dict[str, Any]:
    """Describe a kerazoo preset, or another preset that KerasHub wrote."""
    backbone = read_json_object(folder / "config.json")
    task = read_json_object(folder / "task.json") if (folder / "task.json").is_file() else {}
    packing = _first(folder, "preprocessor.json", "tokenizer.json")
    tokenizer = packing.get("config", {}).get("tokenizer", packing).get("config", {})
    task_names = {class_name: name for name, (_, class_name) in TASKS.items()}
    class_name = task.get("class_name")
    return {
        "format": _FORMAT_NAMES["kerazoo"],
        "path": str(folder),
        **_encoder(
            backbone["config"],
            family=backbone["class_name"].removesuffix("Backbone").lower(),
            task=task_names.get(class_name or "", class_name),
            labels=task.get("config", {}).get("labels"),
        ),
        "pairs": task.get("config", {}).get("pairs"),
        "sequence_length": packing.get("config", {}).get("sequence_length"),
        "tokenizer": _tokenizer(folder, tokenizer),
    }


def _foreign(source: CheckpointSource) -> dict[str, Any]:
    """Describe a Hugging Face folder or a Google TF1 checkpoint."""
    task = source.task_config(_TEXT_CLASSIFICATION)
    return {
        "format": _FORMAT_NAMES[source.format],
        "path": str(source.folder),
        **_encoder(
            source.backbone_config(),
            family="bert",
            task=_TEXT_CLASSIFICATION if task else None,
            labels=task.get("labels"),
        ),
        "tokenizer": _foreign_tokenizer(source),
    }


def _foreign_tokenizer(source: CheckpointSource) -> dict[str, Any] | None:
    """Describe the tokenizer of a foreign checkpoint; None if it has none."""
    try:
        settings = source.tokenizer_settings()
    except FileNotFoundError:
        return None
    return {
        "kind": "WordPiece",
        "tokens": len(settings["vocabulary"]),
        "lowercase": settings.get("lowercase"),
    }


def _encoder(
    config: dict[str, Any], family: str, task: str | None, labels: list[str] | None
) -> dict[str, Any]:
    """Describe an encoder and its head by the config's numbers."""
    shape = {name: config.get(name) for name in _SHAPE}
    names = [
        name
        for name, size in SIZES.get(family, {}).items()
        if all(shape[key] == value for key, value in size.items())
    ]
    known = family in SIZES
    return {
        "family": family,
        "size": names[0] if names else None,
        "task": task,
        "labels": labels,
        "parameters": bert_parameter_count(config, len(labels or [])) if known else None,
        **shape,
        "max_sequence_length": config.get("max_sequence_length"),
    }


def _tokenizer(folder: Path, config: dict[str, Any]) -> dict[str, Any] | None:
    """Describe the tokenizer of a preset."""
    vocabulary = folder / "assets" / "tokenizer" / "vocabulary.txt"
    if not vocabulary.is_file():
        return None
    return {
        "kind": "WordPiece",
        "tokens": vocabulary.read_bytes().removesuffix(b"\n").count(b"\n") + 1,
        "lowercase": config.get("lowercase"),
    }


def _saved_model(path: Path) -> dict[str, Any]:
    """Describe a SavedModel: its description file and its signature table."""
    from kerazoo.export.signatures import read_signatures

    folder = find_version_folder(path)
    file = folder / "assets.extra" / "kerazoo.json"
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
