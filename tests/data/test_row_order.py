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


LENGTHS = np.array([3, 1, 2, 1, 1, 3, 2, 1, 2, 2, 1, 3, 1])  # buckets of 6, 4 and 3 rows


def batches_by_length(first_batch, count, batch_size=5):
    order = RowOrder(3, first_batch, LENGTHS)
    found = itertools.islice(order.batches(np.arange(13), batch_size), count)
    return [rows.numpy().tolist() for rows in found]


def test_batches_have_rows_of_similar_length():
    found = batches_by_length(0, 21, batch_size=2)
    epochs = [found[start : start + 7] for start in (0, 7, 14)]
    for epoch in epochs:
        assert sorted(sum(epoch, [])) == list(range(13))
        lengths = [LENGTHS[batch].tolist() for batch in epoch]
        assert lengths[-1] == [3]  # the smaller batch is one of the largest bucket
        assert sorted(lengths) == [[1, 1]] * 3 + [[2, 2]] * 2 + [[3], [3, 3]]
    orders = {tuple(max(LENGTHS[batch]) for batch in epoch) for epoch in epochs}
    assert len(orders) > 1
    assert len({tuple(epoch[0]) for epoch in epochs}) == 3


def test_a_batch_is_filled_up_from_the_next_larger_bucket():
    lengths = [sorted(LENGTHS[batch].tolist()) for batch in batches_by_length(0, 3)]
    assert sorted(lengths[:2]) == [[1] * 5, [1, 2, 2, 2, 2]]
    assert lengths[2] == [3, 3, 3]


@pytest.mark.parametrize("first", [1, 2, 3, 5])
def test_a_batch_by_length_is_the_same_wherever_one_begins(first):
    whole = batches_by_length(0, 7)
    assert batches_by_length(first, 7 - first) == whole[first:]
    order = RowOrder(3, buckets=LENGTHS)
    assert [order.rows_of_batch(number, 13, 5) for number in range(7)] == whole
