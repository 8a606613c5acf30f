import numpy as np
import pytest
import tensorflow as tf
from batches_of_tasks import plain_classes, ready

from kerazoo.tasks.shared_batches import SharedBatches
from kerazoo.tasks.untuned import untuned


def is_tuned(dataset):
    return dataset.options().autotune.enabled


def tuned(dataset, is_on):
    options = tf.data.Options()
    options.autotune.enabled = is_on
    return dataset.with_options(options)


def test_a_dataset_is_not_tuned_and_gives_the_same():
    dataset = untuned(tf.data.Dataset.range(5).map(lambda number: 3 * number))
    assert is_tuned(dataset) is False
    assert list(dataset.as_numpy_iterator()) == [0, 3, 6, 9, 12]
    assert is_tuned(dataset.map(lambda number: number + 1).prefetch(2)) is False


@pytest.mark.parametrize("is_on", [True, False])
def test_who_says_so_keeps_it(is_on):
    assert is_tuned(untuned(tuned(tf.data.Dataset.range(5), is_on))) is is_on


def test_other_options_stay():
    options = tf.data.Options()
    options.deterministic = False
    dataset = untuned(tf.data.Dataset.range(5).with_options(options))
    assert dataset.options().deterministic is False
    assert is_tuned(dataset) is False


def test_shared_batches_are_not_tuned():
    batches = untuned(SharedBatches(7, lambda rows: tf.data.Dataset.range(*(rows or (0, 7)))))
    assert is_tuned(batches.whole()) is False
    assert is_tuned(batches.own((2, 5))) is False
    assert list(batches.own((2, 5)).as_numpy_iterator()) == [2, 3, 4]


def test_what_is_no_dataset_passes_through():
    columns = {"text": np.array(["one"])}
    assert untuned(columns) is columns
    assert untuned(None) is None


@pytest.fixture
def are_tuned(monkeypatch):
    """Whether each dataset that was gone through was tuned, as it says."""
    found = []
    iterated = tf.data.Dataset.__iter__

    def noted(dataset):
        found.append(is_tuned(dataset))
        return iterated(dataset)

    monkeypatch.setattr(tf.data.Dataset, "__iter__", noted)
    return found


@pytest.mark.parametrize("kind", ["in memory", "dataset", "shared"])
def test_no_pass_of_a_task_is_tuned(are_tuned, kind):
    task, x, y, _ = ready(plain_classes, 5)
    task.compile("sgd")
    rows = tf.data.Dataset.from_tensor_slices((x, y)).batch(3)
    shared = SharedBatches(3, lambda rows_: rows.take(1).repeat(2))
    data = {"in memory": (x, y), "dataset": (rows, None), "shared": (shared, None)}[kind]
    task.fit(*data, epochs=2, validation_data=rows, verbose=0)
    assert len(are_tuned) >= 3
    if kind != "shared":
        task.evaluate(*data, verbose=0)
        task.predict(data[0], batch_size=None if kind == "dataset" else 2, verbose=0)
    assert set(are_tuned) == {False}
