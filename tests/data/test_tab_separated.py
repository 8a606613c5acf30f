import csv
import io

import pytest

from kerazoo.data.tab_separated import tab_separated


def read(text):
    return list(tab_separated(enumerate(text.split("\n"), start=1)))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("a\tb", ["a", "b"]),
        ('"a\tb"\tc', ["a\tb", "c"]),
        ('"say ""hi"""\tc', ['say "hi"', "c"]),
        ('"Hello" he said\tc', ['"Hello" he said', "c"]),
        ('5" pipe\tc', ['5" pipe', "c"]),
        ('"a" and "b"\tc', ['"a" and "b"', "c"]),
        ("", [""]),
        ("\t", ["", ""]),
        ("a\u2028b\tc", ["a\u2028b", "c"]),
        ('"a\u2028b"\tc', ["a\u2028b", "c"]),
    ],
)
def test_a_field_is_unquoted_only_where_that_reading_is_whole(text, fields):
    assert read("text\tlabel\n" + text)[1] == (2, fields)


def test_a_quoted_field_may_span_lines():
    text = 'text\tlabel\n"one\ntwo\n\nthree"\tpos\nnext\tneg'
    assert read(text)[1:] == [(2, ["one\ntwo\n\nthree", "pos"]), (6, ["next", "neg"])]
    text = 'label\ttext\npos\t"one\ntwo"\nneg\tnext'
    assert read(text)[1:] == [(2, ["pos", "one\ntwo"]), (4, ["neg", "next"])]


def test_an_open_quote_does_not_swallow_whole_rows():
    text = 'text\tlabel\n"open\tpos\nb\tneg\nc"\tpos\nd\tneg'
    assert read(text)[1:] == [
        (2, ['"open', "pos"]),
        (3, ["b", "neg"]),
        (4, ['c"', "pos"]),
        (5, ["d", "neg"]),
    ]


def test_lines_after_a_quote_that_never_closes_are_all_read_once():
    rows = [(n, [f'"speech {n}', "pos"]) for n in range(2, 9)]
    rows += [(n, [f"text {n}", "neg"]) for n in range(9, 2500)]
    text = "\n".join(["text\tlabel", *("\t".join(fields) for _, fields in rows)])
    assert read(text)[1:] == rows


def test_what_the_csv_module_writes_is_read_back():
    rows = [['a "b"', "x"], ["c\td", "y"], ["e\nf\n", "z"], ['"', '"q"'], ["", "w"], ['"\n"', "v"]]
    stream = io.StringIO()
    csv.writer(stream, "excel-tab", lineterminator="\n").writerows([["text", "label"], *rows])
    read_back = [fields for _, fields in read(stream.getvalue().removesuffix("\n"))]
    assert read_back == [["text", "label"], *rows]
