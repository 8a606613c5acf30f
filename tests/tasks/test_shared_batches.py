import pytest
import tensorflow as tf

from kerazoo.tasks.shared_batches import SharedBatches


@pytest.fixture
def batches():
    def make(rows):
        begin, end = rows or (0, 7)
        return tf.data.Dataset.range(21).batch(7).map(lambda batch: batch[begin:end]).repeat()

    return SharedBatches(7, make)


def first(dataset):
    return next(dataset.as_numpy_iterator()).tolist()


def test_rows_are_made_alone(batches):
    assert first(batches.whole()) == [0, 1, 2, 3, 4, 5, 6]
    assert first(batches.own((2, 5))) == [2, 3, 4]
    assert batches.own((0, 7)).element_spec == batches.whole().element_spec


def test_a_change_is_of_all_of_them(batches):
    changed = batches.mapped(lambda dataset: dataset.map(lambda rows: 10 * rows))
    assert changed.size == 7
    assert first(changed.whole()) == [0, 10, 20, 30, 40, 50, 60]
    assert first(changed.own((5, 7))) == [50, 60]


def test_the_first_parts_have_a_row_more(batches):
    assert batches.bounds(1) == [0, 7]
    assert batches.bounds(3) == [0, 3, 5, 7]
    assert batches.bounds(9)[-3:] == [6, 7, 7]
