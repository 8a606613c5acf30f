"""What the tasks that learn from windows have in common."""

import numpy as np
import pytest
import tiny_extractive_qa as qa
import tiny_token_classifier as ner

from kerazoo.data.row_order import RowOrder
from kerazoo.tasks.base import Task


@pytest.fixture(params=["questions", "words"])
def learner(request):
    """A task, rows in memory and their targets."""
    if request.param == "questions":
        return qa.make_tiny_extractive_qa(), qa.questions(), qa.answers()
    return ner.make_tiny_token_classifier(), ner.WORDS, ner.TAGS


def as_arrays(batches):
    return [np.asarray(value) for batch in batches for value in _leaves(batch)]


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [leaf for part in value for leaf in _leaves(part)] if type(value) is tuple else [value]


@pytest.mark.slow
def test_rows_and_their_windows_measure_the_same(learner):
    task, x, y = learner
    weight = np.arange(1, 1 + len(y)) / 2
    windows = task.windows(x, y, weight)
    assert len(windows) > len(y)
    expected = task.evaluate(x, y, sample_weight=weight, verbose=0)
    assert task.evaluate(windows, verbose=0) == pytest.approx(expected, rel=1e-6)


def test_all_that_can_be_validated_on_is_the_same(learner):
    task, x, y = learner
    windows = task.windows(x, y)
    datasets = [task._validation_dataset(data, 7) for data in ((x, y), [x, y], windows)]
    first, *others = [as_arrays(dataset.as_numpy_iterator()) for dataset in datasets]
    assert first[0].shape[0] == 7
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert task._validation_dataset(datasets[0], None) is datasets[0]


def test_rows_without_targets_are_not_trained_on(learner):
    task, x, _ = learner
    with pytest.raises(ValueError, match=f"Training needs {task.rows_to_learn_from}.*y=None"):
        task.fit(x)


def test_an_order_decides_which_windows_a_batch_has(learner, monkeypatch):
    task, x, y = learner
    windows, given = task.windows(x, y), {}
    monkeypatch.setattr(Task, "fit", lambda self, **options: given.update(options))
    order = RowOrder(seed=3, first_batch=1)
    task.fit(windows, batch_size=4, shuffle=order)
    assert given["steps_per_epoch"] == -(-len(windows) // 4) > 1
    features = next(iter(given["x"]))[0]
    chosen = order.rows_of_batch(1, len(windows), 4)
    np.testing.assert_array_equal(features["token_ids"], windows.features["token_ids"][chosen])


def test_packed_windows_lose_their_padding(learner):
    task, x, y = learner
    windows = task.windows(x, y)
    task.preprocessor.pad_to_multiple_of = 4
    longest = windows.features["padding_mask"][:2].sum(axis=1).max()
    ready = {key: value[:2] for key, value in windows.features.items()}
    trimmed = task.preprocess_samples(ready)
    assert {value.shape for value in trimmed.values()} == {(2, -(-longest // 4) * 4)}
