import json
import re

import pytest

from kerazoo.data.multiple_choice import multiple_choice_rows, read_multiple_choice


def write(tmp_path, *records):
    path = tmp_path / "a.jsonl"
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_columns_as_fit_takes_them(tmp_path):
    path = write(
        tmp_path,
        {"context": "c", "question": "q", "choices": ["a", "b"], "label": 1, "id": 7},
        "",
        {"context": "", "question": "r", "choices": ["a", "b", "c"], "label": "2"},
    )
    table = read_multiple_choice(path)
    assert table.columns == {
        "context": ["c", ""],
        "question": ["q", "r"],
        "choices": [["a", "b"], ["a", "b", "c"]],
        "label": [1, 2],
    }
    assert (table.lines, len(table)) == ([1, 3], 2)


def test_context_question_and_label_may_be_absent(tmp_path):
    path = write(tmp_path, {"question": "q", "context": None, "choices": ["a", "b"]})
    (row,) = multiple_choice_rows(path, with_labels=False)
    assert row[:2] == (1, {"question": "q", "choices": ["a", "b"]})


FINE = {"context": "c", "choices": ["a", "b"], "label": 0}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "this is not JSON"),
        ("[1]", "Received: list"),
        ({**FINE, "choices": ["a"]}, "must be a list of two texts or more"),
        ({"context": "c", "label": 0}, "Received: choices=None"),
        ({**FINE, "choices": ["a", 1]}, "`choices` must be a string. Received: choices=1"),
        ({**FINE, "choices": ["a", ""]}, "a choice is empty"),
        ({**FINE, "context": 3}, "`context` must be a string. Received: context=3"),
        ({**FINE, "context": "\ud83d"}, "half a surrogate pair"),
        ({**FINE, "label": 2}, "0 to 1. Received: label=2"),
        ({**FINE, "label": -1}, "Received: label=-1"),
        ({**FINE, "label": True}, "Received: label=True"),
        ({"context": "c", "choices": ["a", "b"]}, "Received: label=None"),
        (
            {"choices": ["a", "b"], "label": 0},
            "this row has `choices`, `label`, line 1 has `context`",
        ),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(tmp_path, record, message):
    path = write(tmp_path, FINE, record)
    with pytest.raises(
        ValueError, match=re.escape(f"{path}, line 2: ") + ".*" + re.escape(message)
    ):
        read_multiple_choice(path)


def test_an_empty_file_says_what_a_line_is(tmp_path):
    with pytest.raises(ValueError, match="is empty. Every line must be a JSON object like"):
        read_multiple_choice(write(tmp_path, ""))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_multiple_choice(str(tmp_path / "none.jsonl"))
