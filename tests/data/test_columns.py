import re

import pytest

from kerazoo.data.columns import checked_label, wanted_columns


def test_required_and_present_optional_columns_are_wanted():
    found = ["id", "label", "text_pair", "text"]
    assert wanted_columns(found, ["text", "label"], ["text_pair", "note"], "f") == [
        "text",
        "label",
        "text_pair",
    ]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (["a", "b"], "f, line 1: the column `text` is missing; found 'a', 'b'."),
        (["Text", "label"], "Rename 'Text' to 'text'."),
        (["text,label"], ".tsv means tabs, .csv commas"),
    ],
)
def test_a_missing_column_names_those_found(found, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        wanted_columns(found, ["text", "label"], [], "f, line 1")


def test_a_column_that_is_there_twice_is_refused():
    with pytest.raises(ValueError, match="`text` is there twice"):
        wanted_columns(["text", "text"], ["text"], [], "f")
    assert wanted_columns(["text", "x", "x"], ["text"], [], "f") == ["text"]


def test_labels_lose_surrounding_space_and_may_not_be_empty():
    assert checked_label(" good\t", "f, line 2") == "good"
    with pytest.raises(ValueError, match="f, line 2: the label is empty"):
        checked_label("  ", "f, line 2")
