import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart

SEED = tf.constant([3, 7])


@pytest.mark.parametrize("options", [{}, {"minval": 3, "maxval": 11, "dtype": tf.int32}])
def test_rows_have_the_numbers_that_they_have_in_the_batch(options):
    whole = WHOLE.uniform([9, 5, 2], SEED, **options).numpy()
    assert whole.shape == (9, 5, 2)
    assert len(np.unique(whole)) > 5
    for begin, rows in [(0, 4), (4, 5), (3, 1), (9, 0)]:
        part = BatchPart(begin, 9).uniform([rows, 5, 2], SEED, **options)
        np.testing.assert_array_equal(part, whole[begin : begin + rows])


def test_sizes_may_be_tensors():
    shape = tf.unstack(tf.shape(tf.zeros([4, 3])))
    part = BatchPart(2, 7).uniform(shape, SEED)
    np.testing.assert_array_equal(part, WHOLE.uniform([7, 3], SEED)[2:6])
