import numpy as np
import pytest
from keras import ops

from kerazoo.layers.transformer_block import TransformerBlock

SIZES = {"num_heads": 4, "hidden_dim": 20, "intermediate_dim": 24}


@pytest.fixture
def states():
    return np.random.default_rng(11).normal(size=(3, 7, 20)).astype("float32")


def layer_norm(x, gamma, beta, epsilon):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + epsilon) + beta


@pytest.mark.parametrize("epsilon", [1e-12, 0.3])
def test_is_post_norm_with_residuals(states, epsilon):
    block = TransformerBlock(**SIZES, layer_norm_epsilon=epsilon)
    mask = np.ones((3, 7), "int32")
    mask[0, 2:] = 0
    output = ops.convert_to_numpy(block(states, padding_mask=mask))
    weights = {w.path.split("/", 1)[1]: ops.convert_to_numpy(w) for w in block.weights}
    attended = ops.convert_to_numpy(block.attention(states, padding_mask=mask))
    middle = layer_norm(
        states + attended,
        weights["attention_layer_norm/gamma"],
        weights["attention_layer_norm/beta"],
        epsilon,
    )
    transformed = ops.convert_to_numpy(block.feed_forward(middle))
    expected = layer_norm(
        middle + transformed,
        weights["feed_forward_layer_norm/gamma"],
        weights["feed_forward_layer_norm/beta"],
        epsilon,
    )
    np.testing.assert_allclose(output, expected, atol=2e-5)


@pytest.mark.parametrize("epsilon", [1e-12, 0.3])
def test_is_pre_norm_with_residuals(states, epsilon):
    block = TransformerBlock(**SIZES, layer_norm_epsilon=epsilon, normalize_first=True, causal=True)
    mask = np.ones((3, 7), "int32")
    mask[0, 2:] = 0
    output = ops.convert_to_numpy(block(states, padding_mask=mask))
    weights = {w.path.split("/", 1)[1]: ops.convert_to_numpy(w) for w in block.weights}

    def norm(x, name):
        return layer_norm(x, weights[f"{name}/gamma"], weights[f"{name}/beta"], epsilon)

    normed = norm(states, "attention_layer_norm")
    middle = states + ops.convert_to_numpy(block.attention(normed, padding_mask=mask))
    transformed = block.feed_forward(norm(middle, "feed_forward_layer_norm"))
    np.testing.assert_allclose(output, middle + ops.convert_to_numpy(transformed), atol=2e-5)
    assert block.attention.causal


@pytest.mark.parametrize("normalize_first", [False, True])
def test_a_causal_block_does_not_look_ahead(states, normalize_first):
    block = TransformerBlock(**SIZES, normalize_first=normalize_first, causal=True)
    before = ops.convert_to_numpy(block(states))
    changed = states.copy()
    changed[:, 4] *= -1
    after = ops.convert_to_numpy(block(changed))
    np.testing.assert_allclose(after[:, :4], before[:, :4], atol=1e-6)
    assert np.abs(after - before)[:, 5:].max() > 1e-4


def test_attention_scores_come_beside_the_states(states):
    block = TransformerBlock(**SIZES)
    alone = ops.convert_to_numpy(block(states))
    output, scores = block(states, return_attention_scores=True)
    np.testing.assert_array_equal(ops.convert_to_numpy(output), alone)
    assert scores.shape == (3, 4, 7, 7)


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_constant_rows_are_finite_in_half_precision(dtype):
    block = TransformerBlock(**SIZES, dtype=dtype)
    output = block(np.ones((2, 5, 20), "float32"), padding_mask=np.zeros((2, 5), "int32"))
    assert np.isfinite(ops.convert_to_numpy(ops.cast(output, "float32"))).all()


def test_both_dropouts_act_in_training(states):
    for rates in ({"dropout": 0.5}, {"attention_dropout": 0.5}):
        block = TransformerBlock(**SIZES, **rates)
        calm = ops.convert_to_numpy(block(states, training=False))
        assert np.abs(ops.convert_to_numpy(block(states, training=True)) - calm).max() > 1e-3


def test_config_round_trip():
    options = {"dropout": 0.1, "attention_dropout": 0.2, "activation": "relu"}
    block = TransformerBlock(**SIZES, **options, normalize_first=True, causal=True)
    assert block.get_config()["normalize_first"] and block.get_config()["causal"]
    assert TransformerBlock.from_config(block.get_config()).get_config() == block.get_config()
