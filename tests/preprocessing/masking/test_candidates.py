import pytest
import tensorflow as tf

from kerazoo.preprocessing.masking.candidates import Candidates, is_one_of


def test_padding_is_nothing_whatever_its_id():
    ids = tf.constant([[1, 4, 0, 5, 2, 5, 5]])
    found = Candidates.of_batch(ids, tf.constant([[1, 1, 1, 1, 1, 0, 0]]), [1, 2], [0, 1])
    assert found.is_real.numpy().tolist() == [[True] * 5 + [False] * 2]
    assert found.is_text.numpy().tolist() == [[False, True, True, True, False, False, False]]
    assert found.is_selectable.numpy().tolist() == [[False, True, False, True, False, False, False]]


@pytest.mark.parametrize("ids", [[], [3], [0, 5, 9], range(0, 40, 3)], ids=len)
def test_few_ids_and_many(ids):
    found = is_one_of(tf.reshape(tf.range(50), [5, 10]), ids)
    assert found.numpy().ravel().nonzero()[0].tolist() == list(ids)
