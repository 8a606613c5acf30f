import gzip
import io
import re
import sys

import pytest

from kerazoo.data.source_lines import source_lines, source_name


def test_lines_end_with_newline_and_nothing_else(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes("one\u2028still one\r\ntwo\x85two\n\nlast".encode())
    assert list(source_lines(str(file))) == [
        (1, "one\u2028still one"),
        (2, "two\x85two"),
        (3, ""),
        (4, "last"),
    ]


def test_a_byte_order_mark_is_dropped_only_at_the_beginning(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbftext\n\xef\xbb\xbfmore\n")
    assert list(source_lines(str(file))) == [(1, "text"), (2, "\ufeffmore")]


def test_a_compressed_file_is_read(tmp_path):
    file = tmp_path / "a.txt.gz"
    file.write_bytes(gzip.compress(b"eins\nzwei\n"))
    assert list(source_lines(str(file))) == [(1, "eins"), (2, "zwei")]


@pytest.mark.parametrize(
    "content", [gzip.compress(b"line\n" * 9, mtime=0)[:-12], b"no gzip at all"]
)
def test_a_damaged_compressed_file_is_named(tmp_path, content):
    file = tmp_path / "a.txt.gz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.txt\.gz, line \d+: the compressed file is damaged"):
        list(source_lines(str(file)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"good\nb\xe4d\n", "line 2: byte 2 of the line is not UTF-8 (0xe4)"),
        (b"good\ngood\nN\0L\n", "line 3: a NUL byte"),
        ("text\n".encode("utf-16"), "line 1: the file is UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_named_by_line(tmp_path, content, message):
    file = tmp_path / "a.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"{file}, {message}")):
        list(source_lines(str(file)))


def test_bytes_that_are_no_text_are_replaced_if_asked(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes("gut\nb\u00e4d ".encode() + b"b\xe4d\r\nN\0L\n")
    lines = list(source_lines(str(file), "replace"))
    assert lines == [(1, "gut"), (2, "b\u00e4d b\ufffdd"), (3, "N\ufffdL")]
    with pytest.raises(ValueError, match="`errors` must be one of 'strict', 'replace'"):
        list(source_lines(str(file), "ignore"))


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file .*nothing.tsv"):
        list(source_lines(str(tmp_path / "nothing.tsv")))
    with pytest.raises(IsADirectoryError, match="is a folder"):
        list(source_lines(str(tmp_path)))


def test_standard_input_is_read_and_left_open(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert list(source_lines("-")) == [(1, "a"), (2, "b")]
    assert not stream.buffer.closed
    assert source_name("-") == "standard input"
