import pytest

from kerazoo.tokenizers.vocabulary_file import check_unique, read_vocabulary, write_vocabulary


def write(tmp_path, data: bytes):
    path = tmp_path / "vocab.txt"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"a\n\n", ["a", ""]),
        (b"\n", [""]),
        (b"\n\na\n", ["", "", "a"]),
        ("a\n\u2028\nb\n".encode(), ["a", "\u2028", "b"]),
        ("a\n\u0085\n\u2029\n##\u2028\n".encode(), ["a", "\u0085", "\u2029", "##\u2028"]),
        (b"a\n\x0b\n\x0c\n\x1c\n", ["a", "\x0b", "\x0c", "\x1c"]),
        (b" a \n\tb\n", [" a ", "\tb"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbf[PAD]\na\n", ["[PAD]", "a"]),
    ],
)
def test_id_is_line_number(tmp_path, data, entries):
    assert read_vocabulary(write(tmp_path, data)) == entries


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.txt"):
        read_vocabulary(tmp_path / "nowhere.txt")


def test_folder_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="is no file"):
        read_vocabulary(tmp_path)


def test_empty_file(tmp_path):
    with pytest.raises(ValueError, match="empty.*vocab.txt"):
        read_vocabulary(write(tmp_path, b""))


def test_duplicate_names_both_lines(tmp_path):
    with pytest.raises(ValueError, match=r"lines 2 and 4.*entry='b'.*vocab.txt"):
        read_vocabulary(write(tmp_path, b"a\nb\nc\nb\n"))


def test_undecodable_line_is_named(tmp_path):
    with pytest.raises(ValueError, match="line 3 cannot be decoded"):
        read_vocabulary(write(tmp_path, b"a\nb\n\xff\xfe\n"))


def test_blank_entries_may_repeat():
    check_unique(["", "a", "", "b"], "a list")
    with pytest.raises(ValueError, match="twice"):
        check_unique(["a", "", "a"], "a list")


def test_what_is_written_is_read_back(tmp_path):
    entries = ["[PAD]", "", "\u2028", "\u0085", " a", "##b", "中", ""]
    write_vocabulary(tmp_path / "v.txt", entries)
    assert read_vocabulary(tmp_path / "v.txt") == entries


@pytest.mark.parametrize("entry", ["a\nb", "a\r"])
def test_an_entry_with_a_line_end_is_not_written(tmp_path, entry):
    with pytest.raises(ValueError, match="line end.*id=1"):
        write_vocabulary(tmp_path / "v.txt", ["a", entry])
    assert not (tmp_path / "v.txt").exists()
