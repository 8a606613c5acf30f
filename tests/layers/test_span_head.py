import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.span_head import SpanHead

STATES = np.random.default_rng(5).normal(size=(3, 7, 20)).astype("float32")
MASK = np.array([[1, 0, 0, 1, 1, 0, 0], [1] * 7, [0, 0, 0, 0, 0, 0, 1]], "int32")


def test_logits_are_a_dense_layer_where_the_mask_allows():
    head = SpanHead(20)
    logits = head(STATES, MASK)
    kernel, bias = (ops.convert_to_numpy(w) for w in (head.dense.kernel, head.dense.bias))
    expected = STATES @ kernel + bias
    for number, key in enumerate(("start_logits", "end_logits")):
        found = ops.convert_to_numpy(logits[key])
        np.testing.assert_allclose(found[MASK == 1], expected[..., number][MASK == 1], atol=1e-5)
        assert (found[MASK == 0] == np.finfo("float32").min).all()
        softmax = ops.convert_to_numpy(ops.softmax(logits[key]))
        assert (softmax[MASK == 0] == 0).all()
        np.testing.assert_allclose(softmax.sum(-1), 1, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "bfloat16"])
def test_logits_are_float32_under_every_policy(dtype):
    outputs = SpanHead(20, dtype=dtype)(STATES, MASK)
    found = {keras.backend.standardize_dtype(value.dtype) for value in outputs.values()}
    assert found == {"float32"}


def test_it_is_made_again_from_its_config():
    head = SpanHead(20, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.3))
    copy = SpanHead.from_config(head.get_config())
    assert copy.hidden_dim == 20
    assert copy.dense.kernel_initializer.stddev == 0.3
    symbolic = copy(keras.KerasTensor((None, None, 20)), keras.KerasTensor((None, None), "int32"))
    assert symbolic["end_logits"].shape == (None, None)
