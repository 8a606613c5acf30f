import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.attention import SelfAttention

BATCH, SEQ, HEADS, HIDDEN = 3, 7, 4, 20


@pytest.fixture
def layer():
    layer = SelfAttention(HEADS, HIDDEN, kernel_initializer="glorot_normal")
    layer.build((None, None, HIDDEN))
    return layer


@pytest.fixture
def states():
    return np.random.default_rng(3).normal(size=(BATCH, SEQ, HIDDEN)).astype("float32")


@pytest.fixture
def mask():
    mask = np.ones((BATCH, SEQ), "int32")
    mask[1, 4:] = 0
    return mask


def numpy_attention(layer, states, mask, causal=False):
    """The formula again, head by head and query by query."""
    weights = {w.path.split("/", 1)[1]: ops.convert_to_numpy(w) for w in layer.weights}

    def project(name):
        return states @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]

    query, key, value = project("query"), project("key"), project("value")
    head = HIDDEN // HEADS
    joined = np.zeros_like(states)
    probabilities = np.zeros((BATCH, HEADS, SEQ, SEQ), "float32")
    for row in range(BATCH):
        for h in range(HEADS):
            part = slice(h * head, (h + 1) * head)
            for position in range(SEQ):
                scores = key[row, :, part] @ query[row, position, part] / np.sqrt(head)
                seen = mask[row] & (not causal or np.arange(SEQ) <= position)
                scores = np.where(seen, scores, -np.inf)
                exponents = np.exp(scores - scores.max())
                probabilities[row, h, position] = exponents / exponents.sum()
                joined[row, position, part] = probabilities[row, h, position] @ value[row, :, part]
    output = joined @ weights["attention_output/kernel"] + weights["attention_output/bias"]
    return output, probabilities


def test_equals_the_formula(layer, states, mask):
    output, probabilities = layer(states, padding_mask=mask, return_attention_scores=True)
    expected_output, expected_probabilities = numpy_attention(layer, states, mask)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected_output, atol=1e-5)
    np.testing.assert_allclose(
        ops.convert_to_numpy(probabilities), expected_probabilities, atol=1e-6
    )
    alone = layer(states, padding_mask=mask)
    np.testing.assert_array_equal(ops.convert_to_numpy(alone), ops.convert_to_numpy(output))


def test_causal_equals_the_formula(states, mask):
    layer = SelfAttention(HEADS, HIDDEN, causal=True, kernel_initializer="glorot_normal")
    output, probabilities = layer(states, padding_mask=mask, return_attention_scores=True)
    expected_output, expected_probabilities = numpy_attention(layer, states, mask, causal=True)
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected_output, atol=1e-5)
    np.testing.assert_allclose(
        ops.convert_to_numpy(probabilities), expected_probabilities, atol=1e-6
    )


def test_causal_without_a_mask_sees_all_earlier_positions(states):
    layer = SelfAttention(HEADS, HIDDEN, causal=True)
    alone = ops.convert_to_numpy(layer(states))
    everything = np.ones((BATCH, SEQ), "int32")
    masked = ops.convert_to_numpy(layer(states, padding_mask=everything))
    np.testing.assert_allclose(alone, masked, atol=1e-6)
    for end in (2, 4):
        short = ops.convert_to_numpy(layer(states[:, :end]))
        np.testing.assert_allclose(alone[:, :end], short, atol=1e-6)


def test_attending_to_projected_keys_equals_the_call(layer, states, mask):
    query, key, value = layer.project(states)
    assert tuple(query.shape) == tuple(key.shape) == (BATCH, HEADS, SEQ, HIDDEN // HEADS)
    visible = ops.convert_to_tensor(mask.astype(bool)[:, None, None, :])
    last, probabilities = layer.attend(query[:, :, -1:], key, value, visible)
    whole = ops.convert_to_numpy(layer(states, padding_mask=mask))
    np.testing.assert_allclose(ops.convert_to_numpy(last)[:, 0], whole[:, -1], atol=1e-5)
    assert tuple(probabilities.shape) == (BATCH, HEADS, 1, SEQ)


def test_padding_changes_nothing(layer, states):
    short = ops.convert_to_numpy(layer(states[:, :5]))
    mask = np.ones((BATCH, SEQ), "int32")
    mask[:, 5:] = 0
    padded = ops.convert_to_numpy(layer(states, padding_mask=mask))
    np.testing.assert_allclose(padded[:, :5], short, atol=1e-6)


@pytest.mark.parametrize("kind", ["int32", "bool", "float32"])
def test_masks_of_any_dtype(layer, states, mask, kind):
    expected = ops.convert_to_numpy(layer(states, padding_mask=mask))
    output = ops.convert_to_numpy(layer(states, padding_mask=mask.astype(kind)))
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_a_row_of_padding_is_finite(states, mask, dtype):
    layer = SelfAttention(HEADS, HIDDEN, dtype=dtype)
    mask = mask.copy()
    mask[2] = 0
    output, probabilities = layer(states, padding_mask=mask, return_attention_scores=True)
    assert np.isfinite(ops.convert_to_numpy(ops.cast(output, "float32"))).all()
    assert keras.backend.standardize_dtype(probabilities.dtype) == "float32"
    np.testing.assert_allclose(ops.convert_to_numpy(probabilities).sum(-1), 1, atol=1e-5)


def test_dropout_only_in_training(states):
    layer = SelfAttention(HEADS, HIDDEN, dropout=0.5)
    calm = ops.convert_to_numpy(layer(states))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(states, training=False)), calm)
    assert np.abs(ops.convert_to_numpy(layer(states, training=True)) - calm).max() > 1e-3


def test_kernels_differ(layer):
    kernels = [ops.convert_to_numpy(w) for w in layer.weights if w.path.endswith("kernel")]
    assert len(kernels) == 4
    assert all(np.abs(kernels[0] - other).max() > 1e-3 for other in kernels[1:])


def test_config_round_trip(layer):
    for original in (layer, SelfAttention(HEADS, HIDDEN, causal=True)):
        copy = SelfAttention.from_config(original.get_config())
        assert copy.get_config() == original.get_config()
        assert copy.causal == original.causal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_heads": 5, "hidden_dim": 12}, "num_heads=5"),
        ({"num_heads": 0, "hidden_dim": 12}, "num_heads=0"),
        ({"num_heads": 4, "hidden_dim": 12, "dropout": 1.0}, "dropout=1.0"),
    ],
)
def test_impossible_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        SelfAttention(**arguments)
