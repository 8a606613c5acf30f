import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.static_batches import static_batches

X = {"token_ids": np.arange(15, dtype="int32").reshape(5, 3)}
Y = np.array([4, 2, 3, 1, 2], "int32")


def dataset(*parts):
    return tf.data.Dataset.from_tensor_slices(parts).batch(3)


def test_the_last_batch_is_filled_up_with_rows_that_weigh_nothing():
    data = static_batches(dataset(X, Y), 3)
    assert {part.shape for part in tf.nest.flatten(data.element_spec)} == {
        tf.TensorShape((3, 3)),
        tf.TensorShape((3,)),
    }
    *_, (x, y, weights) = data
    assert x["token_ids"].numpy().tolist() == [[9, 10, 11], [12, 13, 14], [0, 0, 0]]
    assert y.numpy().tolist() == [1, 2, 0]
    assert weights.numpy().tolist() == [1, 1, 0]


def test_weights_stay_what_they_are():
    weights = np.array([0.5, 2.0, 3.0, 0.25, 4.0], "float32")
    *_, (_, _, last) = static_batches(dataset(X, Y, weights), 3)
    assert last.numpy().tolist() == [0.25, 4.0, 0.0]


def test_targets_of_several_outputs_have_weights_each():
    *_, (_, _, weights) = static_batches(dataset(X, {"a": Y, "b": Y + 1}), 3)
    assert {name: value.numpy().tolist() for name, value in weights.items()} == {
        "a": [1, 1, 0],
        "b": [1, 1, 0],
    }


def test_texts_are_refused():
    with pytest.raises(ValueError, match="Texts stay on the host.*strings"):
        static_batches(dataset({"text": ["a", "b", "c"]}, [1, 2, 3]), 3)


def test_a_width_that_changes_is_refused():
    ragged = tf.ragged.constant([[1, 2], [3], [4]])
    data = dataset({"token_ids": ragged}, [1, 2, 3]).map(
        lambda x, y: ({"token_ids": x["token_ids"].to_tensor()}, y)
    )
    with pytest.raises(ValueError, match=r"one shape.*Received: a tensor of shape \(any, any\)"):
        static_batches(data, 3)
