import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.backbones.bert import BertBackbone
from kerazoo.backbones.gpt import GPTBackbone, GPTConfig
from kerazoo.layers.key_value_cache import write_slice, write_where

FIELDS = {
    "vocabulary_size": 31,
    "num_layers": 2,
    "num_heads": 4,
    "hidden_dim": 20,
    "intermediate_dim": 24,
    "max_sequence_length": 11,
}
GENERATIONS = pytest.mark.parametrize("normalize_first", [False, True], ids=["GPT-1", "GPT-2"])


def make(**changes):
    keras.utils.set_random_seed(5)
    # A wide spread, so that differences show.
    return GPTBackbone(**{**FIELDS, "initializer_range": 0.3, **changes})


@pytest.fixture
def inputs():
    random = np.random.default_rng(4)
    mask = np.ones((3, 7), "int32")
    mask[1, 4:] = 0
    return {"token_ids": random.integers(31, size=(3, 7)).astype("int32"), "padding_mask": mask}


def sequence(backbone, inputs):
    return ops.convert_to_numpy(backbone(inputs)["sequence_output"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_heads": 5, "hidden_dim": 12}, "hidden_dim=12, num_heads=5"),
        ({"vocabulary_size": 0}, "vocabulary_size=0"),
        ({"max_sequence_length": -2}, "max_sequence_length=-2"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"activation": "tanh"}, "activation='tanh'"),
        ({"layer_norm_epsilon": 0}, "layer_norm_epsilon=0"),
    ],
)
def test_impossible_configs_are_refused(change, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        GPTConfig(**{**FIELDS, **change})


def test_the_config_is_frozen_and_complete():
    backbone = GPTBackbone(**FIELDS, activation="relu", normalize_first=False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        backbone.config.num_layers = 3
    assert GPTBackbone.from_config(backbone.get_config()).config == backbone.config


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError, match="num_segments"):
        GPTBackbone(**FIELDS, num_segments=2)


@pytest.mark.parametrize(("normalize_first", "norms"), [(False, 0), (True, 2)])
def test_every_variable_exists_after_the_constructor(inputs, normalize_first, norms):
    backbone = make(normalize_first=normalize_first)
    before = [weight.path for weight in backbone.weights]
    backbone(inputs)
    assert [weight.path for weight in backbone.weights] == before
    assert len(set(before)) == len(before) == 2 + 2 * 16 + norms


def test_named_sizes():
    backbone = GPTBackbone.from_size("gpt_tiny", vocabulary_size=31)
    assert (backbone.config.hidden_dim, backbone.config.num_layers) == (128, 2)
    assert not backbone.config.normalize_first
    assert GPTBackbone.from_size("gpt2_tiny", vocabulary_size=31).config.normalize_first
    with pytest.raises(ValueError, match="Received: name='mini'"):
        GPTBackbone.from_size("mini")


@GENERATIONS
def test_padding_changes_nothing(inputs, normalize_first):
    backbone = make(normalize_first=normalize_first)
    ids = inputs["token_ids"][:, :5]
    short = {"token_ids": ids, "padding_mask": np.ones_like(ids)}
    long = {
        "token_ids": np.pad(ids, ((0, 0), (0, 4)), constant_values=17),
        "padding_mask": np.pad(short["padding_mask"], ((0, 0), (0, 4))),
    }
    np.testing.assert_allclose(
        sequence(backbone, long)[:, :5], sequence(backbone, short), atol=1e-5
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(backbone(long)["pooled_output"]),
        sequence(backbone, short)[:, -1],
        atol=1e-5,
    )


@GENERATIONS
def test_later_tokens_change_nothing(inputs, normalize_first):
    backbone = make(normalize_first=normalize_first)
    before = sequence(backbone, inputs)
    other = {**inputs, "token_ids": inputs["token_ids"].copy()}
    other["token_ids"][:, 3] = (other["token_ids"][:, 3] + 1) % 31
    after = sequence(backbone, other)
    np.testing.assert_allclose(after[:, :3], before[:, :3], atol=1e-6)
    assert (np.abs(after - before)[:, 3:].max(axis=-1) > 1e-4).all()


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "mixed_float16"])
@GENERATIONS
def test_a_row_of_padding_is_finite(inputs, normalize_first, dtype):
    backbone = make(normalize_first=normalize_first, dtype=dtype)
    inputs["padding_mask"][2] = 0
    for output in backbone(inputs).values():
        assert np.isfinite(ops.convert_to_numpy(ops.cast(output, "float32"))).all()


@GENERATIONS
def test_the_last_hidden_state_is_the_output(inputs, normalize_first):
    backbone = make(normalize_first=normalize_first)
    states = [ops.convert_to_numpy(state) for state in backbone.hidden_states(inputs)]
    assert [state.shape for state in states] == [(3, 7, 20)] * 3
    embedded = ops.convert_to_numpy(backbone.embed(inputs))
    np.testing.assert_array_equal(states[0], embedded)
    np.testing.assert_allclose(states[-1], sequence(backbone, inputs), atol=1e-5)


def test_attention_scores_see_earlier_real_tokens_only(inputs):
    scores = ops.convert_to_numpy(make().attention_scores(inputs, layers=[-1])[0])
    assert scores.shape == (3, 4, 7, 7)
    np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)
    seen = np.tril(np.ones((7, 7)))[None] * inputs["padding_mask"][:, None, :]
    assert (scores * (1 - seen)[:, None]).max() == 0
    assert (scores.min(axis=1)[seen == 1] > 0).all()


def test_the_output_matrix_is_the_token_embedding(inputs):
    backbone = make()
    states = sequence(backbone, inputs)
    matrix = ops.convert_to_numpy(backbone.token_embedding.embeddings)
    logits = ops.convert_to_numpy(backbone.next_token_logits(backbone(inputs)["sequence_output"]))
    np.testing.assert_allclose(logits, states @ matrix.T, atol=1e-5)


@pytest.mark.parametrize("with_lora", [False, True])
def test_a_step_of_generation_has_the_logits_of_the_whole_text(inputs, with_lora):
    backbone = make()
    if with_lora:
        backbone.token_embedding.enable_lora(rank=3)
        backbone.token_embedding.lora_embeddings_b.assign(np.full((3, 20), 0.5))
    states = backbone(inputs)["sequence_output"]
    every = ops.convert_to_numpy(backbone.next_token_logits(states))
    last = ops.convert_to_numpy(backbone.next_token_logits(states[:, -1]))
    np.testing.assert_allclose(last, every[:, -1], atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*The use of `x.T`")  # by Keras, on PyTorch
def test_a_step_of_generation_reads_an_int8_matrix(inputs):
    backbone = make()
    states = backbone(inputs)["sequence_output"][:, -1]
    expected = ops.convert_to_numpy(backbone.next_token_logits(states))
    backbone.quantize("int8")
    logits = ops.convert_to_numpy(backbone.next_token_logits(states))
    np.testing.assert_allclose(logits, expected, atol=0.03 * np.ptp(expected))
    assert np.abs(logits - expected).max() > 0


def test_a_step_of_generation_in_half_precision_has_logits_of_it(inputs):
    backbone = make(dtype="mixed_bfloat16")
    states = backbone(inputs)["sequence_output"]
    logits = backbone.next_token_logits(states[:, -1])
    assert keras.backend.standardize_dtype(logits.dtype) == "bfloat16"
    expected = ops.cast(backbone.next_token_logits(states)[:, -1], "float32")
    np.testing.assert_allclose(
        ops.convert_to_numpy(ops.cast(logits, "float32")), ops.convert_to_numpy(expected), rtol=0.02
    )


@pytest.mark.parametrize("write", [write_slice, write_where])
@GENERATIONS
def test_reading_token_by_token_equals_reading_at_once(inputs, normalize_first, write):
    backbone = make(normalize_first=normalize_first)
    token_ids = inputs["token_ids"]
    whole = sequence(backbone, {"token_ids": token_ids, "padding_mask": np.ones_like(token_ids)})
    tensor = ops.convert_to_tensor(token_ids)
    states, cache = backbone.read_prompt(tensor[:, :3], slots=9)
    np.testing.assert_allclose(ops.convert_to_numpy(states), whole[:, :3], atol=1e-5)
    assert [tuple(part.shape) for layer in cache for part in layer] == [(3, 4, 9, 5)] * 4
    slots = np.arange(9)[None, None, None]
    for slot in range(3, 7):
        states, cache = backbone.read_token(
            tensor[:, slot : slot + 1],
            cache,
            ops.convert_to_tensor(slot, dtype="int32"),
            positions=ops.convert_to_tensor([slot], dtype="int32"),
            visible=ops.convert_to_tensor(slots <= slot),
            write=write,
        )
        np.testing.assert_allclose(
            ops.convert_to_numpy(states)[:, 0], whole[:, slot], atol=1e-5, err_msg=f"{slot=}"
        )


def test_rows_of_unequal_length_have_positions_and_slots_of_their_own(inputs):
    """A short prompt goes on in the slots behind the longest one, at its own positions."""
    backbone = make()
    lengths = inputs["padding_mask"].sum(axis=1)
    new = np.array([[3], [9], [27]], "int32")
    expected = [
        sequence(
            backbone,
            {
                "token_ids": (row := np.append(ids[:length], token)[None]),
                "padding_mask": np.ones_like(row),
            },
        )[0, -1]
        for ids, length, token in zip(inputs["token_ids"], lengths, new, strict=True)
    ]
    _, cache = backbone.read_prompt(ops.convert_to_tensor(inputs["token_ids"]), slots=8)
    slots = np.arange(8)[None, None, None]
    visible = (slots < lengths[:, None, None, None]) | (slots == 7)
    states, _ = backbone.read_token(
        ops.convert_to_tensor(new),
        cache,
        ops.convert_to_tensor(7, dtype="int32"),
        positions=ops.convert_to_tensor(lengths[:, None].astype("int32")),
        visible=ops.convert_to_tensor(visible),
    )
    np.testing.assert_allclose(ops.convert_to_numpy(states)[:, 0], expected, atol=1e-5)


def test_input_past_the_context_limit_is_refused():
    ids = np.zeros((2, 12), "int32")
    with pytest.raises(ValueError, match=r"11 positions.*shape \(2, 12\)"):
        make()({"token_ids": ids, "padding_mask": ids + 1})


@GENERATIONS
def test_preset_round_trip(inputs, normalize_first, tmp_path):
    backbone = make(normalize_first=normalize_first)
    backbone.save_to_preset(tmp_path)
    copy = GPTBackbone.from_preset(tmp_path)
    assert copy.config == backbone.config
    np.testing.assert_array_equal(sequence(copy, inputs), sequence(backbone, inputs))


@pytest.mark.parametrize("export", ["save_to_preset", "export_to_transformers"])
def test_another_family_is_named(make_tiny_backbone, tmp_path, export):
    getattr(make_tiny_backbone(), export)(tmp_path / "bert")
    getattr(make(intermediate_dim=80), export)(tmp_path / "gpt")
    with pytest.raises(ValueError, match="BertBackbone.from_preset. Received: family='bert'"):
        GPTBackbone.from_preset(tmp_path / "bert")
    with pytest.raises(ValueError, match="GPTBackbone.from_preset. Received: family='gpt'"):
        BertBackbone.from_preset(tmp_path / "gpt")


def transformers_model(normalize_first, changes, head=True):
    import torch
    import transformers

    sizes = {"vocab_size": 31, "n_positions": 11, "n_embd": 20, "n_layer": 2, "n_head": 4}
    sizes.update(initializer_range=0.3, attn_implementation="eager", **changes)
    torch.manual_seed(0)
    if normalize_first:
        config = transformers.GPT2Config(**sizes)
        model = (transformers.GPT2LMHeadModel if head else transformers.GPT2Model)(config)
    else:
        config = transformers.OpenAIGPTConfig(**sizes)
        kinds = transformers.OpenAIGPTLMHeadModel, transformers.OpenAIGPTModel
        model = kinds[0 if head else 1](config)
    for name, parameter in model.named_parameters():  # biases and norms are trivial at first
        if parameter.ndim == 1:
            is_scale = ".ln_" in name and name.endswith("weight")
            torch.nn.init.normal_(parameter, 1.0 if is_scale else 0.0, 0.3)
    return model.eval()


@pytest.mark.transformers
@pytest.mark.parametrize(
    ("normalize_first", "changes"),
    [
        (False, {}),
        (False, {"afn": "relu", "layer_norm_epsilon": 1e-3}),
        (True, {}),
        (True, {"activation_function": "gelu", "n_inner": None, "layer_norm_epsilon": 1e-2}),
        (True, {"activation_function": "relu", "n_head": 5}),
    ],
    ids=["GPT-1", "GPT-1 relu and epsilon", "GPT-2", "GPT-2 exact gelu", "GPT-2 relu"],
)
def test_equals_transformers(inputs, normalize_first, changes, tmp_path):
    """Every hidden state, the attention probabilities and the logits, within 1e-5."""
    import torch

    changes = {"n_inner": 24, **changes} if normalize_first else changes
    model = transformers_model(normalize_first, changes)
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        theirs = model(
            torch.tensor(inputs["token_ids"]).long(),
            attention_mask=torch.tensor(inputs["padding_mask"]).long(),
            output_hidden_states=True,
            output_attentions=True,
        )
    backbone = GPTBackbone.from_preset(tmp_path)
    assert backbone.load_report.is_complete
    assert backbone.config.normalize_first == normalize_first
    for ours, their in zip(backbone.hidden_states(inputs), theirs.hidden_states, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(ours), their.numpy(), atol=1e-5)
    for ours, their in zip(backbone.attention_scores(inputs), theirs.attentions, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(ours), their.numpy(), atol=1e-5)
    logits = backbone.next_token_logits(backbone(inputs)["sequence_output"])
    np.testing.assert_allclose(ops.convert_to_numpy(logits), theirs.logits.numpy(), atol=1e-5)
    assert np.ptp(theirs.logits.numpy()) > 1
