import numpy as np
import pytest
import tensorflow as tf

from kerazoo.data.bucket_order import order_by_bucket

BUCKETS = np.array([3, 1, 2, 1, 1, 3, 2, 1, 2, 2, 1, 3, 1])  # six rows of 1, four of 2, three of 3


def ordered(batch_size, begun, seed=(5, 6)):
    order = tf.random.experimental.stateless_shuffle(tf.range(13), [1, 2])
    found = order_by_bucket(order, tf.constant(BUCKETS), batch_size, seed, begun).numpy()
    assert sorted(found) == list(range(13))
    return BUCKETS[found].tolist()


@pytest.mark.parametrize(("begun", "first"), [(0, 0), (1, 3), (2, 2), (3, 1)])
def test_batches_that_go_on_and_are_left_have_the_largest_bucket(begun, first):
    found = ordered(4, begun)
    whole = (13 - first) // 4 * 4
    batches = [found[start : start + 4] for start in range(first, first + whole, 4)]
    assert sum(max(batch) for batch in batches) == sum(sorted(BUCKETS)[3:whole:4])
    rest = found[:first] + found[first + whole :]
    assert sorted(rest) == sorted(BUCKETS)[whole:]


def test_few_rows_make_no_batch():
    assert sorted(ordered(20, 3)) == sorted(BUCKETS)


def test_the_seed_decides_about_the_order_of_the_batches():
    orders = {tuple(ordered(2, 0, seed=(5, number))) for number in range(6)}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(BUCKETS))}
