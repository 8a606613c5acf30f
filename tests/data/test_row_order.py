import itertools

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.data.row_order import RowOrder, row_count, steps_of_epoch

COLUMNS = (
    {"text": tf.constant([f"row {n}" for n in range(13)]), "choices": tf.ragged.range(range(13))},
    np.arange(13),
)


def numbers(first_batch, count, seed=3):
    batches = RowOrder(seed, first_batch).batches(COLUMNS, 5)
    found = []
    for features, labels in itertools.islice(batches, count):
        rows = labels.numpy().tolist()
        assert [text.decode() for text in features["text"].numpy()] == [f"row {n}" for n in rows]
        assert features["choices"].row_lengths().numpy().tolist() == rows
        found.append(rows)
    return found


def test_every_row_comes_once_an_epoch_in_another_order():
    found = numbers(0, 9)
    assert [len(rows) for rows in found] == [5, 5, 3] * 3
    epochs = [sum(found[start : start + 3], []) for start in (0, 3, 6)]
    assert all(sorted(epoch) == list(range(13)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert numbers(0, 3, seed=4) != found[:3]


@pytest.mark.parametrize("first", [1, 2, 3, 5, 7])
def test_a_batch_is_the_same_wherever_one_begins(first):
    assert numbers(first, 9 - first) == numbers(0, 9)[first:]


def test_the_rows_of_a_batch_are_known():
    order = RowOrder(3)
    assert [order.rows_of_batch(number, 13, 5) for number in range(6)] == numbers(0, 6)


def test_counts():
    assert row_count(COLUMNS) == 13
    assert [steps_of_epoch(13, size) for size in (1, 5, 13, 20)] == [13, 3, 1, 1]
