import gzip
import io
import json
import sys

import pytest

from kerazoo.data.plain_text import corpus_files, read_documents


def write(folder, **contents):
    for name, text in contents.items():
        folder.joinpath(name.replace("_", ".")).write_text(text, encoding="utf-8")


def test_blank_lines_and_ends_of_files_separate_documents(tmp_path):
    write(tmp_path, a_txt="\n\n1 a\n1\u2028b \r\n \t\n\n2 a\n", b_txt="3 a")
    documents = list(read_documents([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]))
    assert documents == [["1 a", "1\u2028b "], ["2 a"], ["3 a"]]


def test_a_file_may_be_one_document(tmp_path):
    write(tmp_path, a_txt="Title\n\nText\n", b_txt="\nB\n")
    documents = list(read_documents([str(tmp_path)], document_per_file=True))
    assert documents == [["Title", "Text"], ["B"]]


def test_every_object_of_jsonl_is_a_document(tmp_path):
    records = [{"text": "1 a\r\n\n1 b", "id": 7}, {"text": " \n"}, {"text": "2"}]
    lines = "\n\n".join(json.dumps(record) for record in records)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert list(read_documents([str(tmp_path / "a.jsonl.gz")])) == [["1 a", "1 b"], ["2"]]


def test_folders_are_read_in_the_order_of_names(tmp_path):
    for name in ("b/z.txt", "b/a.txt.gz", "wiki_00", "c.jsonl", "notes.md", ".x.txt", ".git/y.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"text\n")
    names = [path.removeprefix(f"{tmp_path}/") for path in corpus_files([str(tmp_path), "-"])]
    assert names == ["b/a.txt.gz", "b/z.txt", "c.jsonl", "wiki_00", "-"]


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        (b"\n a\nb\n\nc\n", [[" a", "b"], ["c"]]),
        (b'\n {"text": "a\\nb"}\n{"text": "c"}\n', [["a", "b"], ["c"]]),
    ],
)
def test_standard_input_shows_what_it_is(monkeypatch, content, documents):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert list(read_documents(["-"])) == documents


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"good\nb\xe4d\n", r"a\.txt, line 2: byte 2 of the line is not UTF-8"),
        ("a.txt", b"\n \n\n", r"The corpus holds no text.*Received: corpus=\['.*a\.txt'\]"),
        ("a.jsonl", b'{"text": "a"}\n{"content": "b"}\n', r"line 2: the key `text` is missing; f"),
        ("a.jsonl", b'{"text": 3}\n', r"a\.jsonl, line 1: `text` must be a string"),
        ("a.jsonl", b"plain\n", r"a\.jsonl, line 1: this is not JSON"),
    ],
)
def test_wrong_files_are_told_by_name_and_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        list(read_documents([str(tmp_path / name)]))


def test_bytes_that_are_no_text_are_replaced_if_asked(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"b\xe4d\n")
    assert list(read_documents([str(tmp_path)], errors="replace")) == [["b\ufffdd"]]


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file or folder .*nothing"):
        corpus_files([str(tmp_path / "nothing")])
    (tmp_path / "a.md").write_text("text")
    with pytest.raises(ValueError, match="The folder holds no file that ends in .txt"):
        corpus_files([str(tmp_path)])
    with pytest.raises(ValueError, match="Name at least one file"):
        corpus_files([])


def test_shards_are_not_read_as_text(tmp_path):
    assets = tmp_path / "news" / "assets"
    assets.mkdir(parents=True)
    (assets / "vocabulary.txt").write_text("[PAD]\n[UNK]\n")
    (tmp_path / "news" / "shard-00000.tfrecord").write_bytes(b"rows")
    for folder in (tmp_path, tmp_path / "news"):
        with pytest.raises(ValueError, match="shard-00000.tfrecord in .*news'.*Name one complete"):
            corpus_files([str(folder)])
