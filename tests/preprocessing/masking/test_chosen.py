import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.masking.chosen import Chosen

BATCH = tf.reshape(tf.range(28), [4, 7])
CHOSEN = Chosen(tf.constant([3, 5, 15, 16, 20], tf.int64), tf.constant([1, 2, 1, 1, 4]))


def test_tokens_are_found_and_replaced_where_they_stand():
    assert CHOSEN.gather(BATCH).numpy().tolist() == [3, 5, 15, 16, 20]
    replaced = CHOSEN.replace(BATCH, tf.constant([90, 91, 92, 93, 94])).numpy()
    assert np.flatnonzero(replaced != BATCH.numpy()).tolist() == [3, 5, 15, 16, 20]
    assert replaced.ravel()[[3, 5, 15, 16, 20]].tolist() == [90, 91, 92, 93, 94]
    assert np.flatnonzero(CHOSEN.mask(BATCH)).tolist() == [3, 5, 15, 16, 20]


def test_values_fill_the_slots_of_their_rows_in_order():
    rows = CHOSEN.in_rows(BATCH)
    positions = rows.in_slots(tf.cast(rows.positions, tf.int32), 3)
    assert positions.numpy().tolist() == [[3, 5, 0], [0, 0, 0], [1, 2, 6], [0, 0, 0]]
    ids = rows.in_slots(CHOSEN.gather(BATCH), 3, unused=9)
    assert ids.numpy().tolist() == [[3, 5, 9], [9, 9, 9], [15, 16, 20], [9, 9, 9]]
    assert rows.weights(3).numpy().tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert rows.in_slots(CHOSEN.gather(BATCH), None).shape == (4, 3)


def test_no_rows():
    nothing = Chosen(tf.zeros([0], tf.int64), tf.zeros([0], tf.int32))
    rows = nothing.in_rows(BATCH[:0])
    assert rows.in_slots(nothing.gather(BATCH[:0]), 2).shape == (0, 2)
    assert rows.weights(2).shape == (0, 2)
