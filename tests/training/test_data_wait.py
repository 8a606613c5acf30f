import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.training.data_wait import DataWait

pytestmark = pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there batches do not come to the step"
)


class Watch(keras.callbacks.Callback):
    def __init__(self, wait):
        super().__init__()
        self.wait = wait
        self.seconds = []

    def on_train_begin(self, logs=None):
        self.wait.watch(self.model)

    def on_train_batch_end(self, batch, logs=None):
        self.seconds.append(self.wait.seconds)


def test_a_slow_pipeline_is_waited_for():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")

    def rows():
        for number in range(4):
            time.sleep(0.2 * (number == 2))
            yield np.ones((5, 3), "float32"), np.ones((5, 2), "float32")

    specification = (tf.TensorSpec((5, 3)), tf.TensorSpec((5, 2)))
    dataset = tf.data.Dataset.from_generator(rows, output_signature=specification)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(4))
    wait = DataWait()
    watch = Watch(wait)
    for _ in range(2):  # the second `fit` finds a training function that is timed already
        before = wait.seconds
        model.fit(dataset, callbacks=[watch], verbose=0, shuffle=False)
        assert 0.15 < wait.seconds - before < 1.0
    assert wait.is_measured
    first, second, third = np.diff(watch.seconds[:4])
    assert second > max(first, third)
