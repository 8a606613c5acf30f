import json

import pytest

from kerazoo.conversion.huggingface_config import (
    huggingface_config,
    read_architectures,
    read_head_dropout,
    read_huggingface_config,
    read_labels,
)

FIELDS = {
    "vocabulary_size": 31,
    "num_layers": 2,
    "num_heads": 4,
    "hidden_dim": 20,
    "intermediate_dim": 24,
    "dropout": 0.2,
    "attention_dropout": 0.1,
    "max_sequence_length": 11,
    "num_segments": 3,
    "layer_norm_epsilon": 1e-12,
    "initializer_range": 0.02,
    "activation": "gelu",
}


@pytest.fixture
def write(tmp_path, config):
    def write(**changes):
        content = {k: v for k, v in {**config, **changes}.items() if v != "absent"}
        (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path

    return write


def test_all_fields(write):
    assert read_huggingface_config(write()) == FIELDS


@pytest.mark.parametrize(
    ("key", "value", "field", "expected"),
    [
        ("vocab_size", 37, "vocabulary_size", 37),
        ("num_hidden_layers", 3, "num_layers", 3),
        ("num_attention_heads", 5, "num_heads", 5),
        ("hidden_size", 40, "hidden_dim", 40),
        ("intermediate_size", 28, "intermediate_dim", 28),
        ("hidden_dropout_prob", 0.0, "dropout", 0.0),
        ("attention_probs_dropout_prob", 0.3, "attention_dropout", 0.3),
        ("max_position_embeddings", 514, "max_sequence_length", 514),
        ("type_vocab_size", 1, "num_segments", 1),
        ("layer_norm_eps", 1e-5, "layer_norm_epsilon", 1e-5),
        ("initializer_range", 0.1, "initializer_range", 0.1),
        ("hidden_act", "gelu_new", "activation", "gelu_approximate"),
        ("hidden_act", "gelu_pytorch_tanh", "activation", "gelu_approximate"),
        ("hidden_act", "relu", "activation", "relu"),
    ],
)
def test_every_number_is_honoured(write, key, value, field, expected):
    assert read_huggingface_config(write(**{key: value})) == FIELDS | {field: expected}


def test_absent_fields_have_the_values_of_transformers(write):
    absent = {
        key: "absent"
        for key in (
            *("layer_norm_eps", "type_vocab_size", "hidden_dropout_prob", "hidden_act"),
            "model_type",
        )
    }
    fields = read_huggingface_config(write(**absent))
    assert fields == FIELDS | {"num_segments": 2, "dropout": 0.1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "roberta"}, "another kind of model.*Received: model_type='roberta'"),
        ({"model_type": None}, "another kind of model.*Received: model_type=None"),
        ({"position_embedding_type": "relative_key"}, "absolute positions only.*'relative_key'"),
        ({"is_decoder": True}, "an encoder only. Received: is_decoder=true"),
        ({"add_cross_attention": True}, "Received: add_cross_attention=true"),
        ({"hidden_act": "silu"}, "gelu, .*relu. Received: hidden_act='silu'"),
        ({"hidden_size": 20.5}, "`hidden_size` must be a whole number.*20.5"),
        ({"hidden_size": "20"}, "`hidden_size` must be a whole number"),
        ({"layer_norm_eps": None}, "`layer_norm_eps` must be a number"),
        ({"num_hidden_layers": True}, "`num_hidden_layers` must be a whole number"),
    ],
)
def test_what_kerazoo_does_not_compute_is_refused(write, changes, message):
    folder = write(**changes)
    with pytest.raises(ValueError, match=message) as error:
        read_huggingface_config(folder)
    assert str(folder / "config.json") in str(error.value)


def test_labels_come_in_the_order_of_their_numbers(write):
    labels = [f"label {number}" for number in range(12)]
    shuffled = {str(n): labels[n] for n in (3, 11, 0, 2, 10, 1, 4, 9, 5, 8, 6, 7)}
    assert read_labels(write(id2label=shuffled)) == labels


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({}, ["bad", "good", "mixed"]),
        ({"id2label": "absent"}, ["LABEL_0", "LABEL_1"]),
        ({"id2label": "absent", "num_labels": 4}, [f"LABEL_{n}" for n in range(4)]),
        ({"architectures": ["BertModel"]}, None),
        ({"architectures": ["BertForTokenClassification"]}, ["bad", "good", "mixed"]),
        ({"architectures": ["BertForQuestionAnswering"]}, None),
        ({"architectures": "absent"}, ["bad", "good", "mixed"]),
        ({"architectures": "absent", "id2label": "absent"}, None),
    ],
)
def test_only_a_classifier_has_labels(write, changes, labels):
    assert read_labels(write(**changes)) == labels


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id2label": {"0": "a", "2": "b"}}, "must number the labels 0, 1, 2"),
        ({"id2label": {"a": "0", "b": "1"}}, "must number the labels"),
        ({"id2label": ["a", "b"]}, "must number the labels"),
        ({"problem_type": "multi_label_classification"}, "one label for each text"),
        ({"problem_type": "regression"}, "Received: problem_type='regression'"),
    ],
)
def test_labels_that_are_no_classes_are_refused(write, changes, message):
    with pytest.raises(ValueError, match=message):
        read_labels(write(**changes))


def test_architectures_and_head_dropout(write):
    folder = write(classifier_dropout=0.3)
    assert read_architectures(folder) == ("BertForSequenceClassification",)
    assert read_head_dropout(folder) == 0.3
    assert read_head_dropout(write(classifier_dropout=None)) is None
    assert read_architectures(write(architectures="absent")) == ()


@pytest.mark.parametrize("activation", ["gelu", "gelu_approximate", "relu"])
@pytest.mark.parametrize("labels", [None, ["b", "a", "ü"]])
def test_writing_and_reading_gives_the_same(tmp_path, activation, labels):
    fields = FIELDS | {"activation": activation, "layer_norm_epsilon": 1e-7, "dropout": 0.0}
    content = huggingface_config(fields, labels, 0.4, {"pad_token_id": 3})
    (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
    assert read_huggingface_config(tmp_path) == fields
    assert read_labels(tmp_path) == labels
    assert content["pad_token_id"] == 3
    assert read_head_dropout(tmp_path) == (None if labels is None else 0.4)


def test_a_config_that_was_read_and_written_keeps_every_number(tmp_path, config, write):
    written = huggingface_config(read_huggingface_config(write()), read_labels(tmp_path))
    assert {key: written[key] for key in config} == config


@pytest.mark.transformers
def test_the_defaults_are_those_of_transformers(tmp_path):
    import transformers

    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    fields = read_huggingface_config(tmp_path)
    written = huggingface_config(fields)
    reference = transformers.BertConfig().to_dict()
    compared = [key for key in written if key in reference and key not in ("architectures",)]
    assert len(compared) > 12
    different = {k: (written[k], reference[k]) for k in compared if written[k] != reference[k]}
    assert set(different) <= {"dtype"}, different
