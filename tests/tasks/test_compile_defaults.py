import keras
import numpy as np
import pytest

from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)


def test_what_is_given_is_kept():
    sgd = keras.optimizers.SGD(0.5)
    assert default_optimizer(sgd) is sgd
    assert default_optimizer("sgd") == "sgd"
    assert [default_jit_compile(value) for value in (True, False)] == [True, False]


def test_auto_is_adam_with_a_small_step():
    optimizer = default_optimizer("auto")
    assert isinstance(optimizer, keras.optimizers.Adam)
    assert float(optimizer.learning_rate) == pytest.approx(5e-5)


def test_auto_compiles_where_keras_does_but_not_on_tensorflow():
    on_tensorflow = keras.config.backend() == "tensorflow"
    assert default_jit_compile("auto") == (False if on_tensorflow else "auto")


def test_the_loss_is_a_mean_over_weights():
    logits = np.random.default_rng(2).normal(size=(3, 5, 7)).astype("float32")
    targets = np.random.default_rng(3).integers(7, size=(3, 5))
    weights = np.random.default_rng(4).random((3, 5)).astype("float32")
    scores = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    losses = -np.log(np.take_along_axis(scores, targets[..., None], -1)[..., 0])
    found = weighted_cross_entropy()(targets, logits, sample_weight=weights)
    expected = np.average(losses, weights=weights)
    assert keras.ops.convert_to_numpy(found) == pytest.approx(expected, rel=1e-5)
