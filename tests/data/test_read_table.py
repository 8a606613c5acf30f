import gzip
import io
import re
import sys

import pytest

from kerazoo.data.read_table import read_rows, read_table

TSV = "text\tlabel\nfine, really\tpos\n"
CSV = 'text,label\n"fine, really",pos\n'
JSONL = '{"text": "fine, really", "label": "pos"}\n'
COLUMNS = {"text": ["fine, really"], "label": ["pos"]}


@pytest.fixture
def standard_input(monkeypatch):
    def give(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return give


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.tsv", TSV), ("a.CSV", CSV), ("a.jsonl", JSONL), ("a.ndjson", JSONL)],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_the_ending_says_what_a_file_is(tmp_path, name, content, compressed):
    file = tmp_path / (name + ".gz" if compressed else name)
    raw = content.replace("\n", "\r\n").encode("utf-8-sig")
    file.write_bytes(gzip.compress(raw) if compressed else raw)
    assert read_table(str(file)).columns == COLUMNS


@pytest.mark.parametrize("content", [TSV, CSV, JSONL])
def test_standard_input_is_looked_at(standard_input, content):
    standard_input(content)
    table = read_table("-")
    assert table.columns == COLUMNS
    assert table.path == "standard input"


def test_other_standard_input_is_plain_lines(standard_input):
    standard_input("the text, and the label\nsecond\n\n")
    texts = [row.values["text"] for row in read_rows("-")]
    assert texts == ["the text, and the label", "second", ""]
    standard_input("plain\n")
    with pytest.raises(ValueError, match="plain text has no columns, and `text`, `label`"):
        read_table("-")
    standard_input("")
    with pytest.raises(ValueError, match="standard input is empty"):
        list(read_rows("-"))


def test_plain_text_is_a_text_a_line_and_has_no_labels(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("one\n\nthree\n")
    assert [row[:2] for row in read_rows(str(file))] == [
        (1, {"text": "one"}),
        (2, {"text": ""}),
        (3, {"text": "three"}),
    ]
    with pytest.raises(ValueError, match="plain text has no columns"):
        read_table(str(file))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "", "a.tsv is empty"),
        ("a.tsv", "text\tlabel\n", "a.tsv has a header and no rows"),
        ("a.jsonl", "", "a.jsonl is empty"),
        ("a.parquet", "x", "Use one of .tsv, .csv, .jsonl, .ndjson, .txt"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path, name, content, message):
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(ValueError, match=re.escape(message)):
        read_table(str(file))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.tsv"):
        read_table(str(tmp_path / "missing.tsv"))


def test_rows_are_read_while_they_are_asked_for(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("text\tlabel\ngood\tx\nbad line\n")
    rows = read_rows(str(file))
    assert next(rows).line == 2
    with pytest.raises(ValueError, match="line 3"):
        next(rows)


def test_a_folder_is_said_to_be_one_whatever_its_name(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; a file of texts was expected"):
        read_table(str(tmp_path))
