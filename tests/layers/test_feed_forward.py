import math

import numpy as np
import pytest
from keras import ops

from kerazoo.layers.feed_forward import FeedForward, get_activation

VALUES = np.linspace(-4, 4, 41, dtype="float32")
EXPECTED = {
    "gelu": [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in VALUES],
    "gelu_approximate": [
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) for x in VALUES
    ],
    "relu": [max(x, 0.0) for x in VALUES],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_activations_are_the_named_ones(name):
    output = ops.convert_to_numpy(get_activation(name)(ops.convert_to_tensor(VALUES)))
    np.testing.assert_allclose(output, EXPECTED[name], atol=2e-6)


def test_exact_and_approximate_gelu_differ():
    assert np.abs(np.subtract(EXPECTED["gelu"], EXPECTED["gelu_approximate"])).max() > 1e-4


def test_unknown_activation_is_refused():
    with pytest.raises(ValueError, match=r"Received: activation='swish'"):
        get_activation("swish")
    with pytest.raises(ValueError, match=r"Received: activation='swish'"):
        FeedForward(20, 24, activation="swish")


@pytest.mark.parametrize("activation", EXPECTED)
def test_equals_the_formula(activation):
    layer = FeedForward(20, 24, activation=activation)
    states = np.random.default_rng(5).normal(size=(3, 7, 20)).astype("float32")
    output = layer(states)
    inner, inner_bias, outer, outer_bias = (ops.convert_to_numpy(w) for w in layer.weights)
    hidden = get_activation(activation)(ops.convert_to_tensor(states @ inner + inner_bias))
    expected = ops.convert_to_numpy(hidden) @ outer + outer_bias
    np.testing.assert_allclose(ops.convert_to_numpy(output), expected, atol=1e-5)
    assert output.shape == (3, 7, 20)


def test_config_round_trip():
    layer = FeedForward(20, 24, activation="relu")
    assert FeedForward.from_config(layer.get_config()).get_config() == layer.get_config()


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match=r"Received: intermediate_dim=0"):
        FeedForward(20, 0)
