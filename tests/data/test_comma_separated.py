import pytest

from kerazoo.data.comma_separated import comma_separated


def read(text):
    return list(comma_separated(enumerate(text.split("\n"), start=1), "a.csv"))


def test_quoted_fields_hold_commas_quotes_and_line_ends():
    text = 'text,label\n"one, ""two""\nthree",pos\nplain "inner" quotes,neg'
    assert read(text) == [
        (1, ["text", "label"]),
        (2, ['one, "two"\nthree', "pos"]),
        (4, ['plain "inner" quotes', "neg"]),
    ]


def test_blank_lines_are_empty_records():
    assert read("a,b\n\nc,d") == [(1, ["a", "b"]), (2, []), (3, ["c", "d"])]


def test_a_field_longer_than_the_csv_modules_limit_is_read():
    long = "x" * 200_000
    assert read(f"text,label\n{long},pos")[1] == (2, [long, "pos"])


def test_an_open_quote_is_named_by_the_line_where_it_begins():
    with pytest.raises(ValueError, match=r"a\.csv, line 3: a quoted field begins here"):
        read('text,label\nfine,pos\n"open,neg\nmore,neg')


def test_text_after_a_closing_quote_is_named_by_its_line():
    with pytest.raises(ValueError, match=r"a\.csv, line 2: this is not comma-separated"):
        read('text,label\n"Hello" he said,pos')
