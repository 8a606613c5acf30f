"""Hugging Face's `config.json` of a BERT model and the fields of kerazoo's `BertConfig`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object

CONFIG_FILE = "config.json"
CLASSIFIER_ARCHITECTURE = "BertForSequenceClassification"

# BertConfig's field: (config.json's field, the value that an absent field means).
_FIELDS: dict[str, tuple[str, Any]] = {
    "vocabulary_size": ("vocab_size", 30522),
    "num_layers": ("num_hidden_layers", 12),
    "num_heads": ("num_attention_heads", 12),
    "hidden_dim": ("hidden_size", 768),
    "intermediate_dim": ("intermediate_size", 3072),
    "dropout": ("hidden_dropout_prob", 0.1),
    "attention_dropout": ("attention_probs_dropout_prob", 0.1),
    "max_sequence_length": ("max_position_embeddings", 512),
    "num_segments": ("type_vocab_size", 2),
    "layer_norm_epsilon": ("layer_norm_eps", 1e-12),
    "initializer_range": ("initializer_range", 0.02),
}
_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_approximate",
    "gelu_pytorch_tanh": "gelu_approximate",
    "relu": "relu",
}
_ACTIVATION_NAMES = {"gelu": "gelu", "gelu_approximate": "gelu_pytorch_tanh", "relu": "relu"}
_SIZES = frozenset(name for name, (_, default) in _FIELDS.items() if isinstance(default, int))


def config_fields(config: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the fields of `BertConfig` for the contents of a `config.json`.

    Google's `bert_config.json` has the same names.

    Raises:
        ValueError: if the values are not numbers or ask for something that kerazoo's BERT
            does not compute.
    """
    fields: dict[str, Any] = {}
    for name, (key, default) in _FIELDS.items():
        value = config.get(key, default)
        number = int if name in _SIZES else (int, float)
        if isinstance(value, bool) or not isinstance(value, number):
            kind = "a whole number" if name in _SIZES else "a number"
            raise ValueError(f"{path}: `{key}` must be {kind}. Received: {key}={value!r}")
        fields[name] = value
    activation = config.get("hidden_act", "gelu")
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"{path}: kerazoo computes the activations {', '.join(_ACTIVATIONS)}. "
            f"Received: hidden_act={activation!r}"
        )
    fields["activation"] = _ACTIVATIONS[activation]
    return fields


def read_huggingface_config(folder: Path) -> dict[str, Any]:
    """Return the fields of `BertConfig` that a Hugging Face folder asks for.

    Raises:
        FileNotFoundError: if there is no `config.json`.
        ValueError: if the model is not a BERT encoder that kerazoo computes exactly.
    """
    path = folder / CONFIG_FILE
    config = read_json_object(path)
    # Folders from before transformers 2.3 do not say the type; the tensors' names will tell.
    if config.get("model_type", "bert") != "bert":
        raise ValueError(
            f"{path} describes another kind of model; kerazoo reads BERT here. "
            f"Received: model_type={config.get('model_type')!r}"
        )
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(
            f"{path}: kerazoo's BERT has absolute positions only. Received: "
            f"position_embedding_type={config['position_embedding_type']!r}"
        )
    for flag in ("is_decoder", "add_cross_attention"):
        if config.get(flag, False):
            raise ValueError(f"{path}: kerazoo's BERT is an encoder only. Received: {flag}=true")
    return config_fields(config, path)


def read_architectures(folder: Path) -> tuple[str, ...]:
    """Return the names of the classes that the folder was saved from; () if it does not say."""
    names = read_json_object(folder / CONFIG_FILE).get("architectures") or ()
    return tuple(str(name) for name in names)


def read_labels(folder: Path) -> list[str] | None:
    """Return the label names of a text classifier in the order of its classes.

    Returns:
        The names; None if the folder holds no text classifier.

    Raises:
        ValueError: if `id2label` is not numbered 0, 1, 2, …, or the head is no single-label
            classifier.
    """
    path = folder / CONFIG_FILE
    config = read_json_object(path)
    # Folders from before transformers name no architecture; there the names say it.
    architectures = config.get("architectures")
    if CLASSIFIER_ARCHITECTURE not in (architectures or ()) and (
        architectures or "id2label" not in config
    ):
        return None
    kind = config.get("problem_type") or "single_label_classification"
    if kind != "single_label_classification":
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
    pad_token_id: int | None = None,
    head_dropout: float | None = None,
) -> dict[str, Any]:
    """Return the contents of `config.json` for a model.

    Args:
        fields: the fields of `BertConfig`.
        labels: label names of a text classifier; None for a bare encoder.
        pad_token_id: vocabulary id of the padding token.
        head_dropout: dropout rate before the head; None means that of the hidden layers.
    """
    architecture = "BertModel" if labels is None else CLASSIFIER_ARCHITECTURE
    config: dict[str, Any] = {"architectures": [architecture], "model_type": "bert"}
    config.update({key: fields[name] for name, (key, _) in _FIELDS.items()})
    config["hidden_act"] = _ACTIVATION_NAMES[fields["activation"]]
    config["position_embedding_type"] = "absolute"
    config["pad_token_id"] = 0 if pad_token_id is None else pad_token_id
    config["dtype"] = config["torch_dtype"] = "float32"
    if labels is not None:
        config["classifier_dropout"] = head_dropout
        config["problem_type"] = "single_label_classification"
        config["id2label"] = {str(number): label for number, label in enumerate(labels)}
        config["label2id"] = {label: number for number, label in enumerate(labels)}
    return config
