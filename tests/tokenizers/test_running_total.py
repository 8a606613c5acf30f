import tensorflow as tf

from kerazoo.tokenizers.running_total import running_total


def test_totals_begin_with_nothing_and_end_with_all():
    totals = running_total(tf.constant([3, 0, 5], tf.int64))
    assert totals.numpy().tolist() == [0, 3, 3, 8]
    assert totals.dtype == tf.int64
    assert running_total(tf.constant([], tf.int32)).numpy().tolist() == [0]
