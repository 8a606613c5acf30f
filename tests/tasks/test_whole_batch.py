from contextlib import nullcontext

import keras
import numpy as np
import pytest
from batches_of_tasks import LOSSES, crf_tags, masked_words, ready
from keras import ops

from kerazoo.training.distribution import from_name


def gradients_of(task):
    """The gradient of the only step that was made, from the momentum, which is minus it."""
    return [ops.convert_to_numpy(slot) for slot in task.optimizer.momentums]


def fit(loss, rows, batch_size=None, strategy=None, micro_batches=1, optimizer=None, epochs=1):
    """Train a fresh task, and return it and its history, a dict of lists."""
    with nullcontext() if strategy is None else strategy.scope():
        task, x, y, weights = ready(loss, rows)
        task.compile(optimizer or keras.optimizers.SGD(1.0, momentum=0.9))
    task.accumulate(micro_batches)
    arguments = {"batch_size": batch_size or rows, "epochs": epochs, "verbose": 0}
    history = task.fit(x, y, sample_weight=weights, shuffle=False, **arguments).history
    return task, history


def check_same_gradients(others, expected, tolerance=1e-6):
    for other, mine in zip(others, expected, strict=True):
        error = np.linalg.norm(other - mine) / max(np.linalg.norm(mine), 1e-30)
        scale = np.linalg.norm(np.concatenate([g.ravel() for g in expected]))
        assert error <= tolerance or np.linalg.norm(other - mine) <= tolerance * scale * 0.1


def check_same_weights(others, expected, loss):
    """Within 1e-6 of what the weights moved."""
    begin = [ops.convert_to_numpy(w) for w in ready(loss, 1)[0].trainable_weights]
    moved = [
        [ops.convert_to_numpy(w) - b for w, b in zip(task.trainable_weights, begin, strict=True)]
        for task in (others, expected)
    ]
    other, mine = (np.concatenate([part.ravel() for part in each]) for each in moved)
    assert np.linalg.norm(mine) > 0
    assert np.linalg.norm(other - mine) / np.linalg.norm(mine) < 1e-6


def check_same_history(others, expected, tolerance=1e-5):
    assert others.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(others[name], values, rtol=tolerance, err_msg=name)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_micro_batches_give_the_gradient_of_the_batch(loss):
    whole, history = fit(loss, 5)
    parts, of_parts = fit(loss, 5, micro_batches=2)
    check_same_gradients(gradients_of(parts), gradients_of(whole))
    check_same_history(of_parts, history)


@pytest.mark.compiled
@pytest.mark.tensorflow
@pytest.mark.parametrize("rows", [5, 1])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_two_replicas_give_the_gradient_of_one_device(loss, rows, mirrored_strategy):
    alone, history = fit(loss, rows)
    together, of_both = fit(loss, rows, strategy=mirrored_strategy)
    check_same_gradients(gradients_of(together), gradients_of(alone))
    check_same_history(of_both, history)


@pytest.mark.skipif(keras.config.backend() != "jax", reason="of JAX")
@pytest.mark.parametrize("strategy", ["data_parallel", "model_parallel"])
@pytest.mark.parametrize("rows", [4, 5])
@pytest.mark.parametrize("loss", [masked_words, crf_tags], ids=lambda loss: loss.__name__)
def test_two_devices_of_jax_give_the_gradient_of_one(loss, rows, strategy):
    alone, history = fit(loss, rows)
    together, of_both = fit(loss, rows, strategy=from_name(strategy))
    check_same_gradients(gradients_of(together), gradients_of(alone))
    check_same_history(of_both, history)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_compiled_micro_batches_reach_the_weights_of_whole_batches(loss):
    # 7 rows in batches of 4: the second has 3, and is divided unevenly.
    whole, history = fit(loss, 7, 4)
    parts, of_parts = fit(loss, 7, 4, micro_batches=2)
    check_same_weights(parts, whole, loss)
    check_same_history(of_parts, history)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.tensorflow
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_compiled_replicas_reach_the_weights_of_one_device(loss, mirrored_strategy):
    # 9 rows in batches of 4: the last has one, which leaves a replica empty.
    alone, history = fit(loss, 9, 4)
    together, of_both = fit(loss, 9, 4, mirrored_strategy)
    check_same_weights(together, alone, loss)
    check_same_history(of_both, history)
