import json

import pytest
from gpt_checkpoint import CONFIGS

from kerazoo.conversion.huggingface_config import (
    huggingface_config,
    read_huggingface_config,
    read_labels,
    read_task,
)

FIELDS = {
    "vocabulary_size": 31,
    "num_layers": 2,
    "num_heads": 4,
    "hidden_dim": 20,
    "dropout": 0.2,
    "attention_dropout": 0.3,
    "max_sequence_length": 11,
    "layer_norm_epsilon": 1e-5,
    "initializer_range": 0.02,
    "activation": "gelu_approximate",
}
GPT1 = FIELDS | {"intermediate_dim": 80, "normalize_first": False}
GPT2 = FIELDS | {"intermediate_dim": 24, "normalize_first": True}


@pytest.fixture
def write(tmp_path):
    def write(kind, **changes):
        content = {k: v for k, v in {**CONFIGS[kind], **changes}.items() if v != "absent"}
        (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(("kind", "fields"), [("openai-gpt", GPT1), ("gpt2", GPT2)])
def test_all_fields(write, kind, fields):
    assert read_huggingface_config(write(kind)) == fields


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        ("gpt2", {"vocab_size": 37, "n_layer": 3, "n_head": 5}, (37, 3, 5)),
        ("openai-gpt", {"vocab_size": 41, "n_layer": 1, "n_head": 2}, (41, 1, 2)),
    ],
)
def test_sizes_are_honoured(write, kind, changes, expected):
    fields = read_huggingface_config(write(kind, **changes))
    assert tuple(fields[n] for n in ("vocabulary_size", "num_layers", "num_heads")) == expected


@pytest.mark.parametrize(
    ("kind", "changes", "field", "expected"),
    [
        ("gpt2", {"n_inner": None}, "intermediate_dim", 80),
        ("gpt2", {"n_inner": "absent"}, "intermediate_dim", 80),
        ("gpt2", {"activation_function": "absent"}, "activation", "gelu_approximate"),
        ("gpt2", {"activation_function": "gelu"}, "activation", "gelu"),
        ("gpt2", {"activation_function": "relu"}, "activation", "relu"),
        ("gpt2", {"n_positions": "absent"}, "max_sequence_length", 1024),
        ("gpt2", {"layer_norm_epsilon": 1e-3}, "layer_norm_epsilon", 1e-3),
        ("gpt2", {"reorder_and_upcast_attn": True}, "num_heads", 4),
        ("gpt2", {"model_type": "absent"}, "normalize_first", True),
        ("openai-gpt", {"afn": "absent"}, "activation", "gelu_approximate"),
        ("openai-gpt", {"afn": "relu"}, "activation", "relu"),
        ("openai-gpt", {"n_positions": "absent"}, "max_sequence_length", 512),
        ("openai-gpt", {"model_type": "absent"}, "normalize_first", False),
    ],
)
def test_every_field_is_honoured(write, kind, changes, field, expected):
    assert read_huggingface_config(write(kind, **changes))[field] == expected


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("gpt2", {"add_cross_attention": True}, "GPT-2 has no cross.*add_cross_attention=true"),
        ("gpt2", {"scale_attn_weights": False}, "Received: scale_attn_weights=false"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "by_inverse_layer_idx=true"),
        ("gpt2", {"activation_function": "silu"}, "activation_function='silu'"),
        ("openai-gpt", {"afn": "silu"}, "gelu, relu. Received: afn='silu'"),
        ("gpt2", {"n_inner": 2.5}, "`n_inner` must be a whole number.*2.5"),
        ("gpt2", {"n_embd": "20"}, "`n_embd` must be a whole number"),
        ("openai-gpt", {"layer_norm_epsilon": None}, "`layer_norm_epsilon` must be a number"),
    ],
)
def test_what_kerazoo_does_not_compute_is_refused(write, kind, changes, message):
    folder = write(kind, **changes)
    with pytest.raises(ValueError, match=message) as error:
        read_huggingface_config(folder)
    assert str(folder / "config.json") in str(error.value)


def test_two_dropout_rates_are_said(write):
    folder = write("gpt2", embd_pdrop=0.5)
    with pytest.warns(UserWarning, match="Received: resid_pdrop=0.2, embd_pdrop=0.5"):
        assert read_huggingface_config(folder)["dropout"] == 0.2


@pytest.mark.parametrize(
    ("kind", "architectures", "task"),
    [
        ("gpt2", ["GPT2LMHeadModel"], "causal-lm"),
        ("gpt2", ["GPT2DoubleHeadsModel"], "causal-lm"),
        ("gpt2", ["GPT2Model"], None),
        ("gpt2", ["GPT2ForSequenceClassification"], None),
        ("gpt2", "absent", None),
        ("openai-gpt", ["OpenAIGPTLMHeadModel"], "causal-lm"),
        ("openai-gpt", ["OpenAIGPTModel"], None),
    ],
)
def test_the_task_of_a_folder(write, kind, architectures, task):
    labels = {"id2label": {"0": "a", "1": "b"}}
    assert read_task(write(kind, architectures=architectures, **labels)) == task
    assert read_labels(write(kind, architectures=architectures, **labels)) is None


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize(("task", "number"), [(None, 0), ("causal-lm", 1)])
def test_writing_and_reading_gives_the_same(tmp_path, kind, task, number):
    fields = (GPT2 if kind == "gpt2" else GPT1) | {"dropout": 0.0, "activation": "relu"}
    ids = {"bos_token_id": 5, "eos_token_id": 6, "pad_token_id": 6}
    content = huggingface_config(fields, None, None, ids, "gpt", task)
    (tmp_path / "config.json").write_text(json.dumps(content), encoding="utf-8")
    assert read_huggingface_config(tmp_path) == fields
    assert read_task(tmp_path) == task
    assert {key: content[key] for key in ids} == ids
    assert content["embd_pdrop"] == content["resid_pdrop"] == 0.0
    assert content["tie_word_embeddings"] is True
    classes = {
        "gpt2": ("GPT2Model", "GPT2LMHeadModel"),
        "openai-gpt": ("OpenAIGPTModel", "OpenAIGPTLMHeadModel"),
    }
    assert content["architectures"] == [classes[kind][number]]


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_config_that_was_read_and_written_keeps_every_field(write, kind):
    fields = read_huggingface_config(write(kind))
    written = huggingface_config(fields, family="gpt", task_name="causal-lm")
    assert {key: written[key] for key in CONFIGS[kind]} == CONFIGS[kind]


@pytest.mark.parametrize(
    ("fields", "task", "message"),
    [
        (GPT1 | {"intermediate_dim": 24}, None, "intermediate_dim=24, hidden_dim=20"),
        (GPT1 | {"activation": "gelu"}, None, "GPT-1 has the activations.*activation='gelu'"),
        (GPT2, "text-classification", "GPT-2 has no head.*task='text-classification'"),
    ],
)
def test_what_huggingface_has_no_field_for_is_refused(fields, task, message):
    with pytest.raises(ValueError, match=message):
        huggingface_config(fields, family="gpt", task_name=task)


@pytest.mark.transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_the_defaults_are_those_of_transformers(tmp_path, kind):
    import transformers

    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    written = huggingface_config(read_huggingface_config(tmp_path), family="gpt")
    reference = transformers.AutoConfig.for_model(kind).to_dict()
    compared = [key for key in written if key in reference and key != "architectures"]
    assert len(compared) > 12
    different = {key for key in compared if written[key] != reference[key]}
    # transformers sets GPT-2's ids although the tokenizer is not known.
    assert different <= {"dtype", "bos_token_id", "eos_token_id"}
