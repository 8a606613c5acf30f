import pytest

from kerazoo.data.question_record import QuestionRecord


@pytest.mark.parametrize(
    ("values", "question_id", "where"),
    [
        ({"id": "q7"}, "q7", "a.jsonl, line 4 (id q7)"),
        ({"id": 0}, "0", "a.jsonl, line 4 (id 0)"),
        ({"id": ""}, "", "a.jsonl, line 4"),
        ({"id": None}, "", "a.jsonl, line 4"),
        ({}, "", "a.jsonl, line 4"),
    ],
)
def test_a_question_is_called_by_its_place_and_its_id(values, question_id, where):
    record = QuestionRecord(4, "a.jsonl, line 4", values)
    assert (record.question_id, record.where) == (question_id, where)
