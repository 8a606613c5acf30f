"""Hugging Face's `config.json` and the fields of kerazoo's config dataclasses."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.model_type import ConfigTable, ModelType
from kerazoo.conversion.model_types import (
    TEXT_CLASSIFICATION,
    WITH_CLASSIFIER,
    WITH_LABELS,
    model_type_of,
    model_type_to_write,
)

CONFIG_FILE = "config.json"


def read_model_type(folder: Path) -> ModelType:
    """Return the kind of model in a Hugging Face folder.

    Raises:
        FileNotFoundError: if there is no `config.json`.
        ValueError: if kerazoo does not read this kind.
    """
    path = folder / CONFIG_FILE
    return model_type_of(read_json_object(path), path)


def config_fields(config: Mapping[str, Any], path: Path, table: ConfigTable) -> dict[str, Any]:
    """Return the fields of the config dataclass for the contents of a `config.json`.

    Google's `bert_config.json` has the same names.

    Args:
        config: the contents.
        path: the file, for errors.
        table: the names of the fields.

    Raises:
        ValueError: if the values are not numbers or ask for something that kerazoo does not
            compute.
    """
    fields: dict[str, Any] = {}
    for name, (key, default) in table.fields.items():
        fields[name] = _number(config.get(key, default), key, path, whole=isinstance(default, int))
    activation = config.get(table.activation_key, table.default_activation)
    if activation not in table.activations:
        raise ValueError(
            f"{path}: kerazoo computes the activations {', '.join(table.activations)}. "
            f"Received: {table.activation_key}={activation!r}"
        )
    fields["activation"] = table.activations[activation]
    if table.quadruple:
        inner = None if table.inner_key is None else config.get(table.inner_key)
        if inner is not None:
            inner = _number(inner, str(table.inner_key), path, whole=True)
        fields["intermediate_dim"] = inner or 4 * fields["hidden_dim"]
    _say_other_dropout(config, path, table)
    return {**fields, **table.fixed}


def _number(value: Any, key: str, path: Path, whole: bool) -> Any:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{path}: `{key}` must be {kind}. Received: {key}={value!r}")
    return value


def _say_other_dropout(config: Mapping[str, Any], path: Path, table: ConfigTable) -> None:
    """Warn if there are several dropout rates where kerazoo has one."""
    key, default = table.fields["dropout"]
    rate = config.get(key, default)
    for other in table.dropout_keys:
        if config.get(other, default) != rate:
            warnings.warn(
                f"{path}: kerazoo has one dropout rate for embeddings and sublayers and takes that "
                f"of `{key}`; this matters in training only. "
                f"Received: {key}={rate!r}, {other}={config.get(other, default)!r}",
                stacklevel=4,
            )


def read_huggingface_config(folder: Path) -> dict[str, Any]:
    """Return the fields of the config dataclass that a Hugging Face folder asks for.

    Raises:
        FileNotFoundError: if there is no `config.json`.
        ValueError: if the model is none that kerazoo computes exactly.
    """
    path = folder / CONFIG_FILE
    config = read_json_object(path)
    model_type = model_type_of(config, path)
    for key, value, sentence in model_type.config.required:
        found = config.get(key)
        if found is not None and found != value:
            shown = str(found).lower() if isinstance(found, bool) else repr(found)
            raise ValueError(
                f"{path}: kerazoo's {model_type.title} {sentence}. Received: {key}={shown}"
            )
    return config_fields(config, path, model_type.config)


def read_architectures(folder: Path) -> tuple[str, ...]:
    """Return the names of the classes that the folder was saved from; () if it does not say."""
    names = read_json_object(folder / CONFIG_FILE).get("architectures") or ()
    return tuple(str(name) for name in names)


def read_task(folder: Path) -> str | None:
    """Return the name of the task that a folder was saved from; None if kerazoo has none."""
    model_type = read_model_type(folder)
    architectures = read_architectures(folder)
    for task_name, names in model_type.read_architectures.items():
        if names.intersection(architectures):
            return task_name
    # Folders from before transformers name no architecture; there the names of labels say it.
    has_labels = "id2label" in read_json_object(folder / CONFIG_FILE)
    if not architectures and has_labels and TEXT_CLASSIFICATION in model_type.read_architectures:
        return TEXT_CLASSIFICATION
    return None


def read_labels(folder: Path) -> list[str] | None:
    """Return the label names of a classifier of texts or of tokens in the order of its classes.

    Returns:
        The names; None if the folder holds no classifier that kerazoo has.

    Raises:
        ValueError: if `id2label` is not numbered 0, 1, 2, …, or the head is no single-label
            classifier.
    """
    task_name = read_task(folder)
    if task_name not in WITH_LABELS:
        return None
    path = folder / CONFIG_FILE
    config = read_json_object(path)
    kind = config.get("problem_type") or "single_label_classification"
    if task_name == TEXT_CLASSIFICATION and kind != "single_label_classification":
        raise ValueError(
            f"{path}: kerazoo's text classifier chooses one label for each text. "
            f"Received: problem_type={kind!r}"
        )
    id2label = config.get("id2label")
    if id2label is None:
        return [f"LABEL_{number}" for number in range(int(config.get("num_labels", 2)))]
    expected = [str(number) for number in range(len(id2label))]
    if not isinstance(id2label, dict) or sorted(id2label, key=_as_number) != expected:
        raise ValueError(f"{path}: `id2label` must number the labels 0, 1, 2, …")
    return [str(id2label[number]) for number in expected]


def _as_number(key: str) -> tuple[int, str]:
    return (int(key), key) if key.isdecimal() else (-1, key)


def read_head_dropout(folder: Path) -> float | None:
    """Return the dropout rate before the head; None means that of the hidden layers."""
    rate = read_json_object(folder / CONFIG_FILE).get("classifier_dropout")
    return None if rate is None else float(rate)


def huggingface_config(
    fields: Mapping[str, Any],
    labels: Sequence[str] | None = None,
    head_dropout: float | None = None,
    special_token_ids: Mapping[str, int | None] | None = None,
    family: str = "bert",
    task_name: str | None = None,
) -> dict[str, Any]:
    """Return the contents of `config.json` for a model.

    Args:
        fields: the fields of the backbone's config dataclass.
        labels: label names of a classifier of texts or tokens; None for any other model.
        head_dropout: dropout rate before the head; None means that of the hidden layers.
        special_token_ids: `pad_token_id` and the like.
        family: the backbone's family.
        task_name: the task; None is a text classifier if there are labels, else the bare backbone.

    Raises:
        ValueError: if Hugging Face has no class for the task, or no field for a value.
    """
    model_type = model_type_to_write(family, fields)
    table = model_type.config
    if task_name is None and labels is not None:
        task_name = TEXT_CLASSIFICATION
    config: dict[str, Any] = {
        "architectures": [_architecture(model_type, task_name)],
        "model_type": model_type.name,
    }
    config.update({key: fields[name] for name, (key, _) in table.fields.items()})
    config.update(dict.fromkeys(table.dropout_keys, fields["dropout"]))
    config[table.activation_key] = _activation_name(fields["activation"], model_type)
    if table.quadruple:
        config.update(_inner_width(fields, model_type))
    config.update(table.written)
    config.update(special_token_ids or {})
    config["dtype"] = config["torch_dtype"] = "float32"
    if task_name in WITH_CLASSIFIER:
        config["classifier_dropout"] = head_dropout
    if labels is not None:
        if task_name == TEXT_CLASSIFICATION:
            config["problem_type"] = "single_label_classification"
        config["id2label"] = {str(number): label for number, label in enumerate(labels)}
        config["label2id"] = {label: number for number, label in enumerate(labels)}
    return config


def _architecture(model_type: ModelType, task_name: str | None) -> str:
    if task_name not in model_type.architectures:
        raise ValueError(
            f"Hugging Face's {model_type.title} has no head that computes the same as kerazoo's, "
            "so only the backbone can be written: task.backbone.export_to_transformers(path). "
            f"Received: task={task_name!r}"
        )
    return model_type.architectures[task_name]


def _activation_name(activation: str, model_type: ModelType) -> str:
    names = model_type.config.activation_names
    if activation not in names:
        raise ValueError(
            f"Hugging Face's {model_type.title} has the activations {', '.join(names)} only, so "
            f"the model cannot be written as one. Received: activation={activation!r}"
        )
    return names[activation]


def _inner_width(fields: Mapping[str, Any], model_type: ModelType) -> dict[str, int | None]:
    """Return the field for the width of the feed-forward networks, null if it is the usual one."""
    width, usual = fields["intermediate_dim"], 4 * fields["hidden_dim"]
    key = model_type.config.inner_key
    if key is not None:
        return {key: None if width == usual else width}
    if width != usual:
        raise ValueError(
            f"Hugging Face's {model_type.title} has feed-forward networks four times as wide as "
            "its states, so the model cannot be written as one. "
            f"Received: intermediate_dim={width}, hidden_dim={fields['hidden_dim']}"
        )
    return {}
