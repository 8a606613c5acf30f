import gzip
import io
import json
import sys

import pytest

from kerazoo.data.answer_spans import AnswerSpan
from kerazoo.data.questions import question_rows, read_questions

CONTEXT = "On Monday 小明 came 😀 with Ada."
GOOD = {"context": CONTEXT, "question": "Who?", "answer": "小明", "answer_start": 10}


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


BAD = [
    ({"answer": "小明", "answer_start": 9}, "does not begin at character 9.*it begins at 10"),
    ({"is_impossible": "false", "answer": "小明"}, "`is_impossible` must be true or false"),
    ({"context": " ", "answers": []}, "the context is empty"),
    ({"question": "", "answers": []}, "the question is empty"),
    ({"question": None, "answers": []}, "`question` is missing"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_rows_are_left_out_or_an_error(tmp_path, change, message):
    bad = {"context": CONTEXT, "question": "Who?", **change}
    path = write(tmp_path / "a.jsonl", GOOD, bad, GOOD)
    with pytest.raises(ValueError, match=f"a.jsonl, line 2: .*{message}"):
        read_questions(path, strict=True)
    table = read_questions(path)
    assert table.lines == [1, 3]
    assert len(table.skipped) == 1
    note = table.skipped_note()
    assert note.startswith(f"{path}: 1 of 3 rows is left out.\n  {path}, line 2: ")
    only_bad = write(tmp_path / "b.jsonl", bad)
    with pytest.raises(ValueError, match=f"questions can be used .1.; the first: .*{message}"):
        read_questions(only_bad)


def test_questions_of_a_json_file_are_counted_and_named(tmp_path):
    wrong = {"id": "q2", "question": "?", "answers": [{"text": "Ada", "answer_start": 3}]}
    right = {"id": "q1", "question": "?", "answers": [{"text": "Ada", "answer_start": 25}]}
    last = {**right, "id": "q3"}
    content = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": [right, wrong, last]}]}]}
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content, indent=1).encode()))
    table = read_questions(str(path))
    assert (table.lines, table.unit) == ([1, 3], "question")
    assert table.where(1) == f"{path}, question 3"
    assert table.columns["id"] == ["q1", "q3"]
    assert "question 2 (id q2): the answer does not begin at character 3" in table.skipped[0]


def test_a_second_row_of_an_id_is_left_out_and_the_first_one_named(tmp_path):
    ids = [7, None, "a", "", "7", "a", "b"]
    path = write(tmp_path / "a.jsonl", {**GOOD}, *({**GOOD, "id": name} for name in ids))
    table = read_questions(path)
    assert table.lines == [1, 2, 3, 4, 5, 8]
    assert table.columns["id"] == ["", "7", "", "a", "", "b"]
    assert [note.partition("the id ")[2] for note in table.skipped] == [
        "is already that of line 2. Give every question its own. Received: id='7'",
        "is already that of line 4. Give every question its own. Received: id='a'",
    ]
    with pytest.raises(ValueError, match=r"a.jsonl, line 6.*: the id is already that of line 2"):
        read_questions(path, strict=True)


@pytest.mark.parametrize(("given", "shown"), [("q2", "q2"), (0, "0")])
def test_a_bad_line_is_named_with_its_id(tmp_path, given, shown):
    path = write(tmp_path / "a.jsonl", GOOD, {**GOOD, "id": given, "answer_start": 9})
    (note,) = read_questions(path).skipped
    assert note.startswith(f"{path}, line 2 (id {shown}): the answer does not begin")


def test_an_id_of_zero_is_one(tmp_path):
    path = write(tmp_path / "a.jsonl", {**GOOD, "id": 0}, {**GOOD, "id": ""})
    assert read_questions(path).columns["id"] == ["0", ""]


def test_the_id_of_a_row_that_was_left_out_may_come_again(tmp_path):
    path = write(tmp_path / "a.jsonl", {**GOOD, "id": 1, "answer_start": 3}, {**GOOD, "id": 1})
    table = read_questions(path)
    assert (table.lines, len(table.skipped)) == ([2], 1)


def test_rows_to_be_answered_may_share_an_id(tmp_path):
    path = write(tmp_path / "a.jsonl", {**GOOD, "id": "a"}, {**GOOD, "id": "a"})
    rows = question_rows(path, with_answers=False)
    assert [row.values["id"] for row in rows] == ["a", "a"]


def test_rows_to_be_answered_need_no_answers(tmp_path):
    path = write(tmp_path / "a.jsonl", {"context": "", "question": "Who?", "id": 7})
    (row,) = question_rows(path, with_answers=False)
    assert row.values == {"id": "7", "context": "", "question": "Who?"}


@pytest.mark.parametrize("layout", ["lines", "squad", "indented"])
def test_standard_input_is_looked_at(monkeypatch, layout):
    question = {"question": "Who?", "answers": ["Ada"]}
    squad = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": [question]}]}]}
    text = {
        "lines": json.dumps({**question, "context": CONTEXT}),
        "squad": json.dumps(squad),
        "indented": json.dumps(squad, indent=2),
    }[layout]

    class Input:
        buffer = io.BytesIO(text.encode())

    monkeypatch.setattr(sys, "stdin", Input)
    table = read_questions("-")
    assert table.columns["answers"] == [[AnswerSpan("Ada", 25)]]
    assert table.where(0) == f"standard input, {'line' if layout == 'lines' else 'question'} 1"


def test_wrong_files_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"a.tsv: the ending.*Use .json"):
        read_questions(str(tmp_path / "a.tsv"))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_questions(str(tmp_path / "a.jsonl"))
    with pytest.raises(ValueError, match="holds no question"):
        read_questions(write(tmp_path / "empty.jsonl"))
    (tmp_path / "b.jsonl").write_text("{\n")
    with pytest.raises(ValueError, match="b.jsonl, line 1: this is not JSON"):
        read_questions(str(tmp_path / "b.jsonl"))
