import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.replicas import (
    are_all_finite,
    is_multi_worker,
    replica_count,
    results_of_all,
    summed,
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
