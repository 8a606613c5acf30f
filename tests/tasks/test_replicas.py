import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.replicas import (
    add_to_replicas,
    are_all_finite,
    is_multi_worker,
    replica_count,
    results_of_all,
    summed,
    sums_of_replicas,
)


def test_without_a_strategy_there_is_one():
    assert replica_count() == 1
    assert not is_multi_worker()


@pytest.mark.tensorflow
def test_each_replica_gets_the_sums(mirrored_strategy):
    def step():
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, "float32")
        assert replica_count() == 2
        flags = [are_all_finite(tf.constant(flag)) for flag in (True, False)]
        return summed({"a": number + 1, "b": number * 2}), are_all_finite(number < 1), flags

    sums, only_first, flags = mirrored_strategy.run(step)
    for name, value in {"a": 3.0, "b": 2.0}.items():
        results = mirrored_strategy.experimental_local_results(sums[name])
        assert [float(result) for result in results] == [value, value]
    read = mirrored_strategy.experimental_local_results
    assert not any(read(only_first))
    assert [all(read(flag)) for flag in flags] == [True, False]


@pytest.mark.tensorflow
def test_metrics_are_those_of_all_rows(mirrored_strategy):
    with mirrored_strategy.scope():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model._loss_tracker.update_state(0.0)
        model.reset_metrics()

    def step():
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, "float32")
        model._loss_tracker.update_state(number + 1, sample_weight=1 + 2 * number)
        return results_of_all(model)["loss"]

    results = mirrored_strategy.experimental_local_results(mirrored_strategy.run(step))
    np.testing.assert_allclose(results, [(1 + 3 * 2) / 4] * 2)


def measured(strategy, rows):
    """A model of two replicas that have measured different rows."""
    with strategy.scope():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=["mae"])
        model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)  # makes the variables
        model.reset_metrics()

    def step():
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, "float32")
        for seed in range(rows):
            model._loss_tracker.update_state(0.1 + number / 3 + seed, sample_weight=1 + 2 * number)

    strategy.run(step)
    return model


def parts_of(strategy, model):
    read = strategy.experimental_local_results
    return [[float(part) for part in read(v._value)] for v in model.metrics_variables]


@pytest.mark.tensorflow
def test_each_replica_goes_on_with_its_own_sums(mirrored_strategy):
    model = measured(mirrored_strategy, 5)
    own = parts_of(mirrored_strategy, model)
    sums = sums_of_replicas(model)
    assert [part.tolist() for part in sums] == own
    assert own[0][0] != own[0][1]
    model.reset_metrics()
    add_to_replicas(model, sums)
    assert parts_of(mirrored_strategy, model) == own
    add_to_replicas(model, sums)
    assert parts_of(mirrored_strategy, model) == [[2 * part for part in parts] for parts in own]


@pytest.mark.tensorflow
def test_another_number_of_replicas_has_the_same_sums(mirrored_strategy):
    model = measured(mirrored_strategy, 0)
    shapes = [part.shape for part in sums_of_replicas(model)]
    more = [np.arange(3.0, dtype="float32") + 1 for _ in shapes]
    add_to_replicas(model, more)
    assert parts_of(mirrored_strategy, model) == [[6, 0]] * len(shapes)
    model.reset_metrics()
    add_to_replicas(model, [value[:1] for value in more])
    assert parts_of(mirrored_strategy, model) == [[1, 0]] * len(shapes)


def test_one_device_has_all_sums():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)
    sums = sums_of_replicas(model)
    assert [part.shape for part in sums] == [(1, *v.shape) for v in model.metrics_variables]
    before = [float(v.value) for v in model.metrics_variables]
    add_to_replicas(model, [np.concatenate([value, value]) for value in sums])
    after = [float(v.value) for v in model.metrics_variables]
    assert after == [pytest.approx(3 * value) for value in before]
