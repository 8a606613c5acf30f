import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.backbones.bert import BertBackbone, BertConfig

FIELDS = {
    "vocabulary_size": 31,
    "num_layers": 2,
    "num_heads": 4,
    "hidden_dim": 20,
    "intermediate_dim": 24,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_heads": 5, "hidden_dim": 12}, "hidden_dim=12, num_heads=5"),
        ({"vocabulary_size": 0}, "vocabulary_size=0"),
        ({"num_layers": -1}, "num_layers=-1"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"attention_dropout": -0.1}, "attention_dropout=-0.1"),
        ({"activation": "tanh"}, "activation='tanh'"),
        ({"layer_norm_epsilon": 0}, "layer_norm_epsilon=0"),
        ({"num_segments": 0}, "num_segments=0"),
    ],
)
def test_impossible_configs_are_refused(change, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        BertConfig(**{**FIELDS, **change})


def test_the_config_is_frozen_and_complete():
    backbone = BertBackbone(**FIELDS, activation="relu", num_segments=3, layer_norm_epsilon=1e-7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        backbone.config.num_layers = 3
    config = backbone.get_config()
    assert {key: config[key] for key in dataclasses.asdict(backbone.config)} == dataclasses.asdict(
        backbone.config
    )
    assert BertBackbone.from_config(config).config == backbone.config


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError, match="num_layer"):
        BertBackbone(**FIELDS, num_layer=3)


def test_every_variable_exists_after_the_constructor(make_tiny_backbone):
    backbone = make_tiny_backbone()
    before = [weight.path for weight in backbone.weights]
    backbone({key: np.ones((2, 5), "int32") for key in backbone.input})
    assert [weight.path for weight in backbone.weights] == before
    assert len(set(before)) == len(before) == 5 + 2 * 16 + 2


def test_parameter_count_is_the_papers():
    # 110 M is the paper's rounding; the exact number is that of the published checkpoint.
    sizes = BertBackbone.from_size("tiny")
    assert sizes.count_params() == 4_385_920
    assert sizes.token_embedding.input_dim == 30_522


def test_a_size_takes_other_numbers_too():
    backbone = BertBackbone.from_size("tiny", vocabulary_size=31, num_layers=1)
    assert (backbone.config.vocabulary_size, backbone.config.num_layers) == (31, 1)
    assert backbone.config.hidden_dim == 128
    with pytest.raises(ValueError, match="Received: name='gigantic'"):
        BertBackbone.from_size("gigantic")


def test_new_weights_have_the_configured_spread():
    keras.utils.set_random_seed(1)
    backbone = BertBackbone(**{**FIELDS, "vocabulary_size": 3001}, initializer_range=0.05)
    matrix = ops.convert_to_numpy(backbone.token_embedding.embeddings)
    # A normal distribution cut at two standard deviations has 0.88 of its spread.
    assert matrix.std() == pytest.approx(0.05 * 0.88, rel=0.02)


def test_padding_changes_nothing(tiny_backbone):
    ids = np.arange(10, 15)[None]
    short = {"token_ids": ids, "segment_ids": ids * 0, "padding_mask": ids * 0 + 1}
    long = {key: np.pad(value, ((0, 0), (0, 4)), constant_values=0) for key, value in short.items()}
    expected = ops.convert_to_numpy(tiny_backbone(short)["sequence_output"])
    padded = ops.convert_to_numpy(tiny_backbone(long)["sequence_output"])
    np.testing.assert_allclose(padded[:, :5], expected, atol=1e-5)


@pytest.mark.transformers
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"hidden_act": "relu", "layer_norm_eps": 1e-3},
        {"hidden_act": "gelu_new", "type_vocab_size": 3, "max_position_embeddings": 13},
    ],
    ids=["default", "relu and epsilon", "tanh gelu and sizes"],
)
def test_equals_transformers(changes, tmp_path):
    """Every hidden state, the attention probabilities and the pooled output, within 1e-5."""
    import torch
    import transformers

    config = transformers.BertConfig(
        vocab_size=31,
        hidden_size=20,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        initializer_range=0.3,
        attn_implementation="eager",
        **changes,
    )
    torch.manual_seed(0)
    model = transformers.BertModel(config).eval()
    model.save_pretrained(tmp_path)
    random = np.random.default_rng(0)
    ids = random.integers(31, size=(3, 7))
    segments = random.integers(config.type_vocab_size, size=(3, 7))
    mask = np.ones((3, 7), "int64")
    mask[1, 4:] = 0
    with torch.no_grad():
        theirs = model(
            torch.tensor(ids),
            attention_mask=torch.tensor(mask),
            token_type_ids=torch.tensor(segments),
            output_hidden_states=True,
            output_attentions=True,
        )
    backbone = BertBackbone.from_preset(tmp_path)
    inputs = {"token_ids": ids, "segment_ids": segments, "padding_mask": mask}
    assert not backbone.load_report.missing
    for ours, their in zip(backbone.hidden_states(inputs), theirs.hidden_states, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(ours), their.numpy(), atol=1e-5)
    for ours, their in zip(backbone.attention_scores(inputs), theirs.attentions, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(ours), their.numpy(), atol=1e-5)
    np.testing.assert_allclose(
        ops.convert_to_numpy(backbone(inputs)["pooled_output"]),
        theirs.pooler_output.numpy(),
        atol=1e-5,
    )


@pytest.mark.transformers
@pytest.mark.real_data
def test_minilm_equals_transformers():
    """The real MiniLM checkpoint on real sentences: every state within 1e-5."""
    import torch
    import transformers
    from real_data import minilm_folder

    from kerazoo.conversion.source import open_checkpoint
    from kerazoo.preprocessing.packing import PackingTemplate, pack

    folder = minilm_folder()
    texts = ["Shares rose after the bank's results.", "The striker scored twice on Sunday, 3-1."]
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        theirs = model(**batch, output_hidden_states=True)
    source = open_checkpoint(folder)
    template = PackingTemplate.from_tokenizer(source.tokenizer())
    features = pack([source.tokenizer().tokenize(texts)], template, 128, pad_to_multiple_of=1)
    features = {key: value.numpy() for key, value in features.items()}
    np.testing.assert_array_equal(features["token_ids"], batch["input_ids"].numpy())
    backbone = BertBackbone.from_preset(folder)
    for ours, their in zip(backbone.hidden_states(features), theirs.hidden_states, strict=True):
        np.testing.assert_allclose(ops.convert_to_numpy(ours), their.numpy(), atol=1e-5)
    pooled = ops.convert_to_numpy(backbone(features)["pooled_output"])
    np.testing.assert_allclose(pooled, theirs.pooler_output.numpy(), atol=1e-5)
