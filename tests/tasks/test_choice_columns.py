import re

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.choice_columns import choice_columns, choice_label_column, is_raw_choices

COLUMNS = {"question": ["q", "r"], "choices": [["a", "b"], ["c", "d", "e"]]}


def as_lists(columns):
    return {key: column.numpy().astype(str).tolist() for key, column in columns.items()}


@pytest.mark.parametrize(
    "x",
    [
        COLUMNS,
        {**COLUMNS, "choices": tf.ragged.constant(COLUMNS["choices"])},
        {
            "question": np.array(["q", "r"]),
            "choices": tf.constant([["a", "b", ""], ["c", "d", "e"]]),
        },
        [{key: COLUMNS[key][row] for key in COLUMNS} for row in range(2)],
    ],
    ids=["lists", "ragged", "tensors", "rows"],
)
def test_columns_from_any_form(x):
    assert is_raw_choices(x)
    assert as_lists(choice_columns(x)) == {
        "context": ["", ""],
        "question": ["q", "r"],
        "choices": [["a", "b", ""], ["c", "d", "e"]],
    }


@pytest.mark.parametrize("x", [["a"], {"text": ["a"]}, np.zeros(3), tf.data.Dataset.range(2), None])
def test_other_inputs_are_no_questions(x):
    assert not is_raw_choices(x)


def test_no_rows():
    assert as_lists(choice_columns([])) == {"context": [], "question": [], "choices": []}


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"choices": [["a"], []]}, "Row 1 has no choices"),
        ({"choices": [["a", ""]]}, "Row 0 has an empty choice"),
        ({"choices": ["ab"]}, "Row 0 of `choices` is not a list of texts. Received: 'ab'"),
        ({"choices": [["a", 1]]}, "Row 0 of `choices` is not a list of texts"),
        ({"choices": [["a"]], "context": [None]}, "Row 0 of `context` is not a text"),
        ({"choices": [["a"]], "context": []}, "Received: rows={'choices': 1, 'context': 0}"),
        ({"choices": [["a"]], "text": ["b"]}, "keys=['choices', 'text']"),
        ([{"choices": ["a"]}, {"choices": ["b"], "context": "c"}], "row 0 lacks 'context'"),
    ],
)
def test_bad_questions_are_named(x, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        choice_columns(x)


def test_labels():
    choices = choice_columns(COLUMNS)["choices"]
    labels = choice_label_column([1, 2], choices)
    assert (labels.dtype, labels.numpy().tolist()) == (tf.int32, [1, 2])
    for wrong, message in (
        ([2, 0], "Row 0 has 2 choices, and its label is none of them; labels count from 0"),
        ([0, -1], "Received: y=-1"),
        ([0], "y of shape (1,)"),
        ([0.0, 1.0], "y of dtype float64"),
        (["a", "c"], "the index of the right choice"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            choice_label_column(wrong, choices)
