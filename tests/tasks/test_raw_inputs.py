import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.raw_inputs import (
    batched,
    is_raw_text,
    label_column,
    split_off,
    text_columns,
)


class Series(list):
    """Stands in for a pandas Series, which is known by its name and iterates over its rows."""


def as_lists(columns):
    return {key: [t.decode() for t in column.numpy()] for key, column in columns.items()}


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (["a", "b"], {"text": ["a", "b"]}),
        (np.array(["a", "b"], dtype=object), {"text": ["a", "b"]}),
        (Series(["a"]), {"text": ["a"]}),
        (tf.constant(["a"]), {"text": ["a"]}),
        ((["a"], ["b"]), {"text": ["a"], "text_pair": ["b"]}),
        ({"text": ["a"], "text_pair": ["b"]}, {"text": ["a"], "text_pair": ["b"]}),
        ([], {"text": []}),
    ],
)
def test_columns_from_any_form(x, expected):
    assert is_raw_text(x)
    assert as_lists(text_columns(x)) == expected


@pytest.mark.parametrize(
    "x", [np.zeros((3, 7)), tf.zeros([2]), {"token_ids": 1}, tf.data.Dataset.range(3), None, ()]
)
def test_other_inputs_are_not_texts(x):
    assert not is_raw_text(x)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("one text", "Received: text='one text'"),
        (None, "Pass a list of texts. Received: text=None"),
        (tf.constant("a"), r"text of shape \(\)"),
        (tf.constant([["a"]]), r"text of shape \(1, 1\)"),
        (["a", float("nan")], "Row 1 of `text` is not a text. Received: nan"),
        ((["a"], ["b", None]), "Row 1 of `text_pair`"),
        ((["a"], ["b", "c"]), "Received: rows={'text': 1, 'text_pair': 2}"),
        ((["a"], ["b"], ["c"]), "a tuple of 3"),
        ({"text": ["a"], "label": ["x"]}, r"keys=\['label', 'text'\]"),
    ],
)
def test_bad_texts_are_named(x, message):
    with pytest.raises(ValueError, match=message):
        text_columns(x)


LABELS = ["bad", "good"]


@pytest.mark.parametrize(
    "y", [["good", "bad"], [1, 0], np.array([1, 0]), np.array([b"good", b"bad"])]
)
def test_labels_by_name_or_number(y):
    assert label_column(y, LABELS, 2).numpy().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["good", "awful"], "Row 1 has a label.*knows bad, good. Received: label='awful'"),
        ([0, 2], "Row 1 has a class number outside 0 to 1. Received: y=2"),
        ([-1, 0], "Row 0 has a class number"),
        ([1, 10**30], f"Row 1 has a class number outside 0 to 1. Received: y={10**30}"),
        ([0], r"each of the 2 texts. Received: y of shape \(1,\)"),
        ([[0], [1]], r"shape \(2, 1\)"),
        ([0.0, 1.0], "dtype float64"),
    ],
)
def test_bad_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        label_column(y, LABELS, 2)


def test_batches_keep_rows_together_and_shuffle_each_epoch():
    columns = text_columns([str(number) for number in range(50)])
    y = tf.range(50)
    dataset = batched(columns, y, np.arange(50) / 10, 7, shuffle=True)
    orders = []
    for _ in range(2):
        order = []
        for texts, labels, weights in dataset:
            assert [int(text) for text in texts["text"].numpy()] == labels.numpy().tolist()
            np.testing.assert_allclose(weights.numpy() * 10, labels.numpy(), atol=1e-5)
            order += labels.numpy().tolist()
        assert sorted(order) == list(range(50))
        orders.append(order)
    assert orders[0] != orders[1]


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_of_nothing_is_refused(batch_size):
    with pytest.raises(ValueError, match=f"Received: batch_size={batch_size}"):
        batched(text_columns(["a"]), None, None, batch_size, False)


def test_without_shuffling_the_order_stays():
    columns = text_columns(["a", "b", "c"])
    texts = [
        t.decode()
        for (batch,) in batched(columns, None, None, 2, False)
        for t in batch["text"].numpy()
    ]
    assert texts == ["a", "b", "c"]


def test_the_last_share_is_split_off():
    columns = text_columns([str(number) for number in range(10)])
    first, second = split_off((columns, tf.range(10), None), 0.25)
    assert first[1].numpy().tolist() == list(range(7))
    assert as_lists(second[0]) == {"text": ["7", "8", "9"]}
    assert second[2] is None
    with pytest.raises(ValueError, match="Received: validation_split=0.25"):
        split_off((text_columns(["a"]), tf.range(1), None), 0.25)
    with pytest.raises(ValueError, match=r"at least 0 and below 1. Received: validation_split=2"):
        split_off((text_columns(["a", "b"]), tf.range(2), None), 2)
