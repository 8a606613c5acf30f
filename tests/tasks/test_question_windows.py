import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import ROWS, answers, make_tiny_extractive_qa, questions

from kerazoo.tasks import packed_windows as module
from kerazoo.tasks.question_columns import answer_columns, question_columns
from kerazoo.tasks.question_windows import check_question_lengths, question_windows


@pytest.fixture(scope="module")
def preprocessor():
    return make_tiny_extractive_qa().preprocessor


@pytest.fixture(scope="module")
def columns():
    return question_columns(questions())


def test_portions_do_not_show(preprocessor, columns, monkeypatch):
    targets = answer_columns(answers(), columns["context"])
    weights = np.arange(6) / 2
    whole = question_windows(preprocessor, columns, targets, weights)
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 4)
    parts = question_windows(preprocessor, columns, targets, weights)
    assert len(whole) == len(parts) > 6
    assert whole.unanswered == 1
    for name in ("features", "targets", "weights"):
        for key, value in getattr(whole, name).items():
            np.testing.assert_array_equal(value, getattr(parts, name)[key])
    expected, expected_targets, expected_weights, asked = preprocessor.windows(
        columns, targets, weights
    )
    np.testing.assert_array_equal(whole.features["token_ids"], expected["token_ids"])
    np.testing.assert_array_equal(whole.targets["end_logits"], expected_targets["end_logits"])
    np.testing.assert_array_equal(whole.weights["start_logits"], expected_weights["start_logits"])
    np.testing.assert_array_equal(whole.rows, asked)
    np.testing.assert_array_equal(whole.rows, parts.rows)
    assert sorted(set(whole.rows)) == list(range(6))


def test_rows_are_as_wide_as_the_longest_needs(columns):
    preprocessor = make_tiny_extractive_qa().preprocessor
    first = {key: value[:1] for key, value in columns.items()}
    assert question_windows(preprocessor, first, None).features["token_ids"].shape == (1, 16)
    preprocessor.pad_to_multiple_of = 4
    windows = question_windows(preprocessor, first, None)
    assert windows.features["token_ids"].shape == (1, 11)
    assert (windows.targets, windows.weights, windows.unanswered) == (None, None, 0)


def test_a_question_without_room_is_named(preprocessor):
    rows = question_columns({"question": ["who", "who " * 13], "context": [ROWS[0][1]] * 2})
    with pytest.raises(ValueError, match="Row 1: the question has 13 tokens.*at most 12 are free"):
        question_windows(preprocessor, rows, None)


def test_of_a_long_question_the_message_shows_the_beginning(preprocessor):
    with pytest.raises(ValueError) as caught:
        check_question_lengths(preprocessor, tf.constant(["who " * 500]))
    assert str(caught.value).endswith("who who …'")
    assert len(str(caught.value)) < 300
