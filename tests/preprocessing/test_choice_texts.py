import pytest
import tensorflow as tf

from kerazoo.preprocessing.choice_texts import choice_texts, dense_choices, real_choices

ROWS = [["a", "b", "c"], ["d"]]
DENSE = [[b"a", b"b", b"c"], [b"d", b"", b""]]


@pytest.mark.parametrize(
    "value", [ROWS, tf.ragged.constant(ROWS), tf.constant(DENSE)], ids=["list", "ragged", "dense"]
)
def test_rows_of_different_length_are_filled_up(value):
    assert dense_choices(value).numpy().tolist() == DENSE


def test_context_and_question_may_be_absent():
    context, question, choices = choice_texts({"choices": ROWS, "question": ["x", "y"]})
    assert context.numpy().tolist() == [b"", b""]
    assert question.numpy().tolist() == [b"x", b"y"]
    assert real_choices(choices).numpy().tolist() == [[True] * 3, [True, False, False]]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"context": ["x"]}, r"Received: keys=\['context'\]"),
        ({"choices": ROWS, "text": ["x", "y"]}, r"keys=\['choices', 'text'\]"),
        (["x"], "Received: a list"),
        ({"choices": tf.constant(["x"])}, r"choices of shape \(1,\), dtype string"),
        ({"choices": tf.constant([[1]])}, "dtype int32"),
        ({"choices": ROWS, "context": tf.constant([["x"]])}, r"context of shape \(1, 1\)"),
    ],
)
def test_other_forms_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        choice_texts(x)
