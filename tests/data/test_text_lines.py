import pytest

from kerazoo.data.text_lines import text_line_rows


def test_every_line_is_a_text():
    rows = [row[:2] for row in text_line_rows([(1, "a\tb"), (2, "")], "a.txt")]
    assert rows == [(1, {"text": "a\tb"}), (2, {"text": ""})]


def test_an_empty_file_is_named():
    with pytest.raises(ValueError, match=r"a\.txt is empty"):
        list(text_line_rows([], "a.txt"))
