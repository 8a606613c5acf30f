import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.rematerialized import rematerialized
from kerazoo.layers.transformer_block import TransformerBlock

ROWS, LENGTH, HIDDEN = 3, 7, 20


@pytest.fixture
def make_block():
    def make(**options):
        keras.utils.set_random_seed(5)
        size = {"num_heads": 4, "hidden_dim": HIDDEN, "intermediate_dim": 28, "dropout": 0.3}
        block = TransformerBlock(**size, attention_dropout=0.2, **options)
        block.build((None, None, HIDDEN))
        return block

    return make


def trained(block, rematerialize, **options):
    """Return the weights after two steps, and the states of the dropouts' generators."""
    keras.utils.set_random_seed(6)
    states = np.random.default_rng(3).normal(size=(ROWS, LENGTH, HIDDEN)).astype("float32")
    inputs = keras.Input((None, HIDDEN))
    mask = keras.Input((None,), dtype="int32")
    block.rematerialize = rematerialize
    model = keras.Model([inputs, mask], block(inputs * 1.5, padding_mask=mask))
    model.compile("sgd", "mse", **options)
    padding = np.arange(LENGTH) < np.array([[7], [4], [1]])
    data = ([states, padding.astype("int32")], np.ones_like(states))
    model.fit(*data, epochs=2, verbose=0)
    return [ops.convert_to_numpy(variable) for variable in block.variables]


@pytest.mark.compiled
@pytest.mark.parametrize("options", [{}, {"normalize_first": True, "causal": True}])
def test_training_is_the_same_with_dropout(make_block, options):
    expected = trained(make_block(**options), False)
    found = trained(make_block(**options), True)
    before = [ops.convert_to_numpy(variable) for variable in make_block(**options).variables]
    assert all((a != b).any() for a, b in zip(expected, before, strict=True) if a.ndim > 1)
    for own, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, theirs, rtol=2e-6, atol=2e-7)


def test_without_training_nothing_is_computed_twice(make_block, monkeypatch):
    monkeypatch.setattr(keras, "remat", None)
    block = make_block()
    states = np.ones((2, 5, HIDDEN), "float32")
    expected = ops.convert_to_numpy(block(states))
    block.rematerialize = True
    np.testing.assert_array_equal(ops.convert_to_numpy(block(states)), expected)


def test_what_is_inside_is_computed_again(make_block):
    block = make_block()
    calls = []

    def function(states):
        calls.append(ops.shape(states))
        return block(states, training=True)

    states = ops.ones((2, 5, HIDDEN))
    dropouts = [block.attention.dropout_layer, block.dropout_layer, block.dropout_layer]

    def loss(states):
        return ops.sum(rematerialized(block, function, states, dropouts))

    backend = keras.config.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(states)
            value = loss(states)
        tape.gradient(value, states)
    elif backend == "jax":
        import jax

        assert "remat" in str(jax.make_jaxpr(loss)(states))
        return
    else:
        states = states.requires_grad_(True)
        loss(states).backward()
    assert len(calls) == 2
