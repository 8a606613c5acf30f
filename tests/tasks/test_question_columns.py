import numpy as np
import pytest
from tiny_extractive_qa import ROWS, answers, questions

from kerazoo.tasks.question_columns import answer_columns, is_raw_questions, question_columns


def test_dicts_of_columns_and_rows_of_dicts_are_the_same():
    rows = [{"question": q, "context": c, "id": "7"} for q, c, _ in ROWS]
    assert is_raw_questions(rows) and is_raw_questions(questions())
    assert not is_raw_questions({"token_ids": np.ones((2, 3))})
    assert not is_raw_questions(np.ones(3))
    left, right = question_columns(rows), question_columns(questions())
    for key in ("question", "context"):
        assert left[key].numpy().tolist() == right[key].numpy().tolist()


def test_answers_come_in_three_forms():
    contexts = question_columns(questions())["context"]
    pairs = answer_columns(answers(), contexts)
    assert pairs["answer_start"].numpy().tolist()[-1] == -1
    columns = {key: value.numpy().tolist() for key, value in pairs.items()}
    columns["answer"] = [text.decode() for text in columns["answer"]]
    dicts = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for form in (columns, dicts):
        again = answer_columns(form, contexts)
        assert again["answer"].numpy().tolist() == pairs["answer"].numpy().tolist()
        assert again["answer_start"].numpy().tolist() == columns["answer_start"]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"question": ["a"]}, r"keys=\['question'\]"),
        ({"question": ["a"], "context": ["b"], "label": ["c"]}, "label"),
        ({"question": ["a"], "context": ["b", "c"]}, "needs its context.*'context': 2"),
        ({"question": ["a", 3], "context": ["b", "c"]}, "Row 1 of `question` is not a text"),
        ({"question": "a", "context": "b"}, "Pass a list of texts, even for one"),
        ([{"question": "a", "context": "b"}, {"question": "a"}], "Row 1 lacks 'context'"),
        ("who?", "come with their contexts.*Received: 'who[?]'"),
        (None, "come with their contexts.*Received: None"),
        ([{"question": "a", "context": "b"}, "who?"], "Row 1 is no dict"),
    ],
)
def test_wrong_questions_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        question_columns(x)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([("ada", 0), None, None], "one answer for each of the 2 questions"),
        ([("ada", 0), ("came", 3)], "Row 1: the answer is not the slice.*slice=' cam'"),
        ([("ada", 0), ("", 3)], "Row 1"),
        ([("ada", 0), ("x", -1)], "Row 1: .*slice=None"),
        ([("ada", 0), (" ", 3)], "Row 1: an answer of white space alone"),
        ([("ada", 0), 7], "Row 1: an answer is a dict.*y=7"),
        ([("ada", 0), {"answer": "came"}], "Row 1 lacks 'answer_start'"),
        ({"answer": ["ada", ""]}, "come under the keys"),
        ({"answer": ["ada", ""], "answer_start": [0.0, -1.0]}, "counts characters"),
    ],
)
def test_wrong_answers_are_refused(y, message):
    columns = question_columns({"question": ["who", "what"], "context": ["ada came"] * 2})
    with pytest.raises(ValueError, match=message):
        answer_columns(y, columns["context"])
