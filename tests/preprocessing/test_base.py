import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.base import Preprocessor, labels_to_ids, texts_of

LABELS = ["bad", "good", "mixed"]


def strings(tensors):
    return [[item.decode() for item in tensor.numpy()] for tensor in tensors]


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (["a", "b"], [["a", "b"]]),
        ("a", [["a"]]),
        (np.array(["a", "b"]), [["a", "b"]]),
        (tf.constant(["a"]), [["a"]]),
        ((["a", "b"], ["c", "d"]), [["a", "b"], ["c", "d"]]),
        (("a", "c"), [["a"], ["c"]]),
        ({"text": ["a"]}, [["a"]]),
        ({"text_pair": ["c"], "text": ["a"]}, [["a"], ["c"]]),
        ([], [[]]),
    ],
)
def test_texts_in_any_form(x, expected):
    assert strings(texts_of(x)) == expected


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"premise": ["a"]}, r"keys=\['premise'\]"),
        ({"text_pair": ["a"]}, r"keys=\['text_pair'\]"),
        ((["a"], ["b"], ["c"]), "3 texts"),
        (tf.constant([1, 2]), "dtype=int32"),
        (tf.constant([["a"], ["b"]]), r"shape=\(2, 1\)"),
    ],
)
def test_other_forms_are_refused(x, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        texts_of(x)


def test_label_names_become_numbers():
    names = tf.constant(["mixed", "bad", "good"])
    assert labels_to_ids(names, LABELS).numpy().tolist() == [2, 0, 1]
    dataset = tf.data.Dataset.from_tensors(names).map(lambda y: labels_to_ids(y, LABELS))
    assert next(iter(dataset)).numpy().tolist() == [2, 0, 1]


def test_numbers_pass_through():
    ids = labels_to_ids(np.array([2, 0], "int64"), None)
    assert ids.dtype == tf.int32
    assert ids.numpy().tolist() == [2, 0]


def test_an_unknown_label_is_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match="awful"):
        labels_to_ids(tf.constant(["good", "awful"]), LABELS)
    dataset = tf.data.Dataset.from_tensors(tf.constant(["awful"]))
    dataset = dataset.map(lambda y: labels_to_ids(y, LABELS))
    with pytest.raises(tf.errors.InvalidArgumentError, match="the task knows bad, good, mixed"):
        list(dataset)


def test_a_number_out_of_range_is_named():
    assert labels_to_ids(np.array([0, 2]), LABELS).numpy().tolist() == [0, 2]
    for wrong in (3, -1):
        dataset = tf.data.Dataset.from_tensors([0, wrong]).map(lambda y: labels_to_ids(y, LABELS))
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside 0 to 2"):
            list(dataset)


def test_names_need_labels():
    with pytest.raises(ValueError, match="Received: labels=None"):
        labels_to_ids(["good"], None)


def test_a_tuple_is_two_texts_and_numbers_are_backend_tensors(tiny_tokenizer):
    class Lengths(Preprocessor):
        def preprocess(self, x, y, sample_weight):
            return [tf.strings.length(text) for text in texts_of(x)]

    first, second = Lengths(tiny_tokenizer)((["abc"], ["defgh"]))
    assert keras.ops.is_tensor(first)
    assert keras.ops.convert_to_numpy(second).tolist() == [5]
