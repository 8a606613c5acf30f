import re

import pytest

from kerazoo.data.jsonl import jsonl_rows


def read(*lines, required=("text", "label"), optional=("text_pair",)):
    numbered = enumerate(lines, start=1)
    return [row[:2] for row in jsonl_rows(numbered, "a.jsonl", required, optional)]


def test_rows_hold_the_wanted_keys():
    assert read('{"label": "pos", "text": "a\\nb", "id": [1]}', "", '{"text": "", "label": 2}') == [
        (1, {"text": "a\nb", "label": "pos"}),
        (3, {"text": "", "label": "2"}),
    ]


def test_pairs_are_read_and_null_is_no_pair():
    assert read('{"text": "a", "text_pair": "b"}', required=("text",)) == [
        (1, {"text": "a", "text_pair": "b"})
    ]
    assert read('{"text": "a", "text_pair": null}', required=("text",)) == [(1, {"text": "a"})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{text: 1}", "line 2: this is not JSON ("),
        ("[1]", "line 2: a JSON object was expected"),
        ('{"text": "a"}', "line 2: the key `label` is missing; found 'text'"),
        ('{"text": 1, "label": "x"}', "line 2: `text` must be a string. Received: text=1"),
        ('{"text": null, "label": "x"}', "line 2: `text` must be a string. Received: text=None"),
        ('{"text": "a", "label": true}', "line 2: `label` must be a string or a whole number"),
        ('{"text": "a", "label": 0.5}', "line 2: `label` must be a string or a whole number"),
        ('{"text": "a", "label": " "}', "line 2: the label is empty"),
        ('{"text": "\\ud83d", "label": "x"}', "line 2: `text` holds half a surrogate pair"),
        (
            '{"text": "a", "text_pair": "b", "label": "x"}',
            "line 2: this row has the key",
        ),
        ('{"text": "a", "label": ' + "9" * 5000 + "}", "line 2: a number has too many digits"),
        ("[" * 100_000, "line 2: the JSON is nested too deeply"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(line, message):
    with pytest.raises(ValueError, match=re.escape(f"a.jsonl, {message}")):
        read('{"text": "fine", "label": "x"}', line)


def test_a_missing_pair_is_named():
    with pytest.raises(ValueError, match="line 2: the key `text_pair` is missing"):
        read('{"text": "a", "text_pair": "b", "label": 1}', '{"text": "c", "label": 1}')


def test_an_empty_file_says_what_a_line_is():
    with pytest.raises(ValueError, match=re.escape('like {"text": "…", "label": "…"}')):
        read("", "")
