import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tokenizers.token_ids import to_ragged_ids


@pytest.mark.parametrize(
    ("ids", "expected", "single"),
    [
        ([1, 2, 3], [[1, 2, 3]], True),
        ([], [[]], True),
        ([[1, 2], [3]], [[1, 2], [3]], False),
        ([[1, 2], []], [[1, 2], []], False),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], False),
        (np.array([5, 6], dtype=np.int64), [[5, 6]], True),
        (tf.constant([[1, 2]], tf.int64), [[1, 2]], False),
        (tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]], False),
    ],
)
def test_every_form_of_ids(ids, expected, single):
    ragged, is_single = to_ragged_ids(ids, 9)
    assert (ragged.to_list(), is_single) == (expected, single)
    assert ragged.dtype == tf.int32


def test_tensors_of_the_backend():
    ids = keras.ops.convert_to_tensor([[1, 2, 3]], dtype="int32")
    assert to_ragged_ids(ids, 9)[0].to_list() == [[1, 2, 3]]


@pytest.mark.parametrize("ids", [np.zeros((2, 3, 4), int), np.array([1.5]), np.array(3)])
def test_other_shapes_and_dtypes(ids):
    with pytest.raises(ValueError, match="integers of shape"):
        to_ragged_ids(ids, 9)


@pytest.mark.parametrize("ids", [[3, 9], [[1], [2, -1]], np.array([9, 3])])
def test_an_id_outside_the_vocabulary_is_named(ids):
    with pytest.raises(ValueError, match=r"Ids are 0 to 8. Received: id=(9|-1)$"):
        to_ragged_ids(ids, 9)
