import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tokenizers.integer_index import IntegerIndex

EXTREMES = [0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("count", [1, 2, 3, 257, 5000, 300_000])
def test_every_key_and_no_other(count):
    random = np.random.default_rng(count)
    keys = np.unique(np.append(random.integers(-(2**63), 2**63 - 1, count), EXTREMES))
    random.shuffle(keys)
    keys, others = keys[:count], keys[count:]
    index = IntegerIndex(keys)
    np.testing.assert_array_equal(index.find(tf.constant(keys)), np.arange(count))
    np.testing.assert_array_equal(index.find(tf.constant(others)), np.full(len(others), -1))
    near = sorted({key + 1 for key in keys[:999].tolist() if key < 2**63 - 1} - set(keys.tolist()))
    assert (index.find(tf.constant(near, tf.int64)).numpy() == -1).all()


def test_small_neighbouring_keys():
    index = IntegerIndex(np.arange(100, 800, 7))
    expected = [(key - 100) // 7 if (key - 100) % 7 == 0 else -1 for key in range(100, 800)]
    assert index.find(tf.range(100, 800, dtype=tf.int64)).numpy().tolist() == expected


def test_keys_that_one_multiplier_puts_into_one_bucket():
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    keys = np.array([number * inverse % 2**64 for number in range(500)], np.uint64).astype(np.int64)
    index = IntegerIndex(keys)
    assert index._fullest < 20
    np.testing.assert_array_equal(index.find(tf.constant(keys)), np.arange(500))


def test_no_keys():
    index = IntegerIndex(np.zeros(0, np.int64))
    assert index.find(tf.constant(EXTREMES, tf.int64)).numpy().tolist() == [-1] * len(EXTREMES)


def test_shapes_and_dtype():
    index = IntegerIndex(np.array([30, 10, 20]))
    found = index.find(tf.constant([[10, 20, 5], [30, 31, 10]], tf.int64))
    assert found.numpy().tolist() == [[1, 2, -1], [0, -1, 1]]
    assert found.dtype == tf.int32
    assert index.find(tf.zeros([0], tf.int64)).shape == (0,)
