import numpy as np
from keras import ops

from kerazoo.layers.pooling import FirstTokenPooler


def test_is_a_tanh_layer_on_the_first_state():
    layer = FirstTokenPooler(20)
    states = np.random.default_rng(1).normal(size=(3, 7, 20)).astype("float32")
    output = ops.convert_to_numpy(layer(states))
    kernel, bias = (ops.convert_to_numpy(w) for w in layer.weights)
    np.testing.assert_allclose(output, np.tanh(states[:, 0] @ kernel + bias), atol=1e-5)


def test_config_round_trip():
    layer = FirstTokenPooler(20)
    assert FirstTokenPooler.from_config(layer.get_config()).get_config() == layer.get_config()
