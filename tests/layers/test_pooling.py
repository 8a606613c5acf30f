import numpy as np
import pytest
from keras import ops

from kerazoo.layers.pooling import FirstTokenPooler, LastTokenPooler, MeanPooler


def test_is_a_tanh_layer_on_the_first_state():
    layer = FirstTokenPooler(20)
    states = np.random.default_rng(1).normal(size=(3, 7, 20)).astype("float32")
    output = ops.convert_to_numpy(layer(states))
    kernel, bias = (ops.convert_to_numpy(w) for w in layer.weights)
    np.testing.assert_allclose(output, np.tanh(states[:, 0] @ kernel + bias), atol=1e-5)


def test_config_round_trip():
    layer = FirstTokenPooler(20)
    assert FirstTokenPooler.from_config(layer.get_config()).get_config() == layer.get_config()


@pytest.mark.parametrize("kind", ["int32", "bool"])
def test_mean_over_real_tokens_only(kind):
    states = np.random.default_rng(8).normal(size=(3, 7, 20)).astype("float32")
    mask = np.ones((3, 7), kind)
    mask[1, 4:] = 0
    mask[2] = 0
    output = ops.convert_to_numpy(MeanPooler()(states, padding_mask=mask))
    np.testing.assert_allclose(output[0], states[0].mean(0), atol=1e-6)
    np.testing.assert_allclose(output[1], states[1, :4].mean(0), atol=1e-6)
    np.testing.assert_array_equal(output[2], np.zeros(20))


def test_mean_of_many_half_precision_states_is_exact():
    states = np.full((1, 500, 4), 1.0, "float32")
    states[0, 0] = 1000.0
    output = MeanPooler(dtype="mixed_bfloat16")(states, padding_mask=np.ones((1, 500), "int32"))
    expected = (1000.0 + 499) / 500
    np.testing.assert_allclose(
        ops.convert_to_numpy(ops.cast(output, "float32")), expected, rtol=5e-3
    )


@pytest.mark.parametrize("kind", ["int32", "bool", "float32"])
def test_the_last_real_token(kind):
    states = np.random.default_rng(9).normal(size=(4, 7, 20)).astype("float32")
    mask = np.ones((4, 7), kind)
    mask[1, 4:] = 0
    mask[2] = 0
    mask[3] = [0, 1, 0, 1, 0, 0, 0]  # padded in front and between
    output = ops.convert_to_numpy(LastTokenPooler()(states, padding_mask=mask))
    np.testing.assert_array_equal(output, states[np.arange(4), [6, 3, 0, 3]])


def test_last_token_config_round_trip():
    layer = LastTokenPooler(dtype="mixed_bfloat16")
    assert LastTokenPooler.from_config(layer.get_config()).get_config() == layer.get_config()
    assert layer.compute_output_shape((None, 7, 20)) == (None, 20)
