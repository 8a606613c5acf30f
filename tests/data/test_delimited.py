import re

import pytest

from kerazoo.data.delimited import delimited_rows


def read(text, separator="\t", required=("text", "label"), optional=("text_pair",)):
    lines = enumerate(text.split("\n"), start=1)
    return [row[:2] for row in delimited_rows(lines, "a.tsv", separator, required, optional)]


def test_rows_hold_the_wanted_columns_in_any_order():
    text = "id\tlabel\ttext\n1\tpos\tgood film\n2\tneg\t"
    assert read(text) == [
        (2, {"text": "good film", "label": "pos"}),
        (3, {"text": "", "label": "neg"}),
    ]


def test_pairs_are_read_where_they_are():
    assert read("text,text_pair,label\na,b,yes", ",") == [
        (2, {"text": "a", "text_pair": "b", "label": "yes"})
    ]


def test_blank_lines_are_passed_over_but_are_texts_in_one_column():
    assert [line for line, _ in read("\ntext\tlabel\n\na\tx\n")] == [4]
    assert read("text\na\n\nb", required=("text",)) == [
        (2, {"text": "a"}),
        (3, {"text": ""}),
        (4, {"text": "b"}),
    ]
    assert read("text\na\n\nb", ",", required=("text",))[1] == (3, {"text": ""})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.tsv is empty. Its first line must name the columns: text, label, [text_pair]"),
        (
            "text\tscore\na\t1",
            "line 1: the column `label` is missing; found 'text', 'score'",
        ),
        ("text\tlabel\na\tx\nb", "a.tsv, line 3: too few columns: 1 instead of 2 (text, label)"),
        ("text\tlabel\na\tb\tx", "a.tsv, line 2: too many columns: 3 instead of 2"),
        ("text\tlabel\na\tx\nb\t ", "a.tsv, line 3: the label is empty"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(text)
