import keras
import numpy as np

from kerazoo.analysis.layer_stream import layer_stream, without_gradients


def test_each_layer_is_computed_when_it_is_asked_for():
    computed = []

    def layers():
        for number in range(3):
            computed.append(number)
            yield keras.ops.full((2, number + 1), float(number))

    stream = layer_stream(layers())
    assert computed == []
    first = next(stream)
    assert computed == [0] and isinstance(first, np.ndarray)
    assert [array.shape for array in stream] == [(2, 2), (2, 3)]


def test_nothing_is_kept_for_gradients():
    kernel = keras.Variable(np.ones((2, 2), "float32"))
    with without_gradients():
        product = keras.ops.matmul(kernel, kernel)
    assert not getattr(product, "requires_grad", False)


def test_the_callers_own_gradients_are_left_alone():
    if keras.config.backend() != "torch":
        return
    import torch

    stream = layer_stream(iter([keras.ops.ones((2,)), keras.ops.ones((3,))]))
    next(stream)
    assert torch.is_grad_enabled()
