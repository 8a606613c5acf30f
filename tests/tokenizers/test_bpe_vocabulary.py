import json

import pytest

from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary, read_entries, read_merges

VOCABULARY = {"b": 1, "a": 0, "ab": 2, "\u2028": 3, "é\u0085": 4, "abab": 5}
MERGES = [("a", "b"), ("ab", "ab")]


@pytest.fixture
def write(tmp_path):
    def write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_entries_stand_in_id_order(write):
    entries = ["a", "b", "ab", "\u2028", "é\u0085", "abab"]
    assert read_entries(VOCABULARY) == entries
    path = write(json.dumps(VOCABULARY))
    assert read_entries(path) == read_entries(str(path)) == entries
    assert read_entries(write(b"\xef\xbb\xbf" + json.dumps(VOCABULARY).encode())) == entries


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ({}, "is empty"),
        ({"a": 0, "b": 0}, "the same id.*'a' and 'b' with id=0"),
        ({"a": 0, "b": 2}, "without gaps.*no entry with id=1"),
        ({"a": 1}, "no entry with id=0"),
        ({"a": -1, "b": 0}, "no entry with id=1"),
        ({"a": 0.0}, "'a': 0.0"),
        ({"a": True}, "'a': True"),
        ({"a": "0"}, "'a': '0'"),
        ({0: 0}, "0: 0"),
    ],
)
def test_wrong_vocabularies(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        read_entries(vocabulary)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no valid JSON"),
        ('{"a": 0', "no valid JSON"),
        (b'{"\xff": 0}', "no valid JSON"),
        ('["a", "b"]', "Received: a list"),
        ('{"a": 0, "b": 1, "a": 1}', "the entry 'a' twice"),
        ("{}", "is empty"),
    ],
)
def test_wrong_vocabulary_files(write, content, message):
    path = write(content)
    with pytest.raises(ValueError, match=message) as error:
        read_entries(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(("name", "read"), [("vocabulary", read_entries), ("merges", read_merges)])
def test_no_such_file(tmp_path, name, read):
    for path in (tmp_path / "absent", str(tmp_path)):
        with pytest.raises(FileNotFoundError, match=f"{name}='"):
            read(path)


@pytest.mark.parametrize(
    "merges", [["a b", "ab ab"], MERGES, [["a", "b"], ["ab", "ab"]], iter(["a b", "ab ab"])]
)
def test_forms_of_merges(merges):
    assert read_merges(merges) == MERGES


@pytest.mark.parametrize(
    ("content", "merges"),
    [
        ("#version: 0.2\na b\nab ab\n", MERGES),
        ("#version: 0.2\na b\nab ab", MERGES),
        ("a b\r\nab ab\r\n", MERGES),
        ("a b\n#version x\n", [("a", "b"), ("#version", "x")]),
        ("# #\n", [("#", "#")]),
        ("\u2028 \u0085\n\x0b \x1c\n", [("\u2028", "\u0085"), ("\x0b", "\x1c")]),
        ("#version: 0.2\n", []),
        ("", []),
    ],
)
def test_merges_of_a_file(write, content, merges):
    assert read_merges(write(content)) == merges


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("#version: 0.2\na b\na\n", "line 3 has not.*'a'"),
        ("a b c\n", "line 1 has not"),
        ("a b\n\nab ab\n", "line 2 has not"),
        ("a  b\n", "line 1 has not"),
        ("a b\nab ab\na b\n", "lines 1 and 3"),
        (b"\xff \xfe\n", "no UTF-8"),
    ],
)
def test_wrong_merge_files(write, content, message):
    path = write(content)
    with pytest.raises(ValueError, match=message) as error:
        read_merges(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("merge", ["a", "a b c", ("a",), ("a", 1), ("a", ""), ("a", "b c"), ()])
def test_wrong_merges(merge):
    with pytest.raises(ValueError, match="merge or line 2 has not"):
        read_merges(["x y", merge])


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (["a b", "b a"], "merge 2 .'b' . 'a'. needs an entry 'ba'"),
        (["z b"], "needs an entry 'z'"),
        (["a z"], "needs an entry 'z'"),
    ],
)
def test_merges_that_do_not_fit(merges, message):
    with pytest.raises(ValueError, match=message):
        BPEVocabulary(VOCABULARY, merges)


def test_files_round_trip(tmp_path):
    vocabulary = BPEVocabulary(VOCABULARY, MERGES)
    vocabulary.write(tmp_path)
    read = BPEVocabulary(tmp_path / "vocabulary.json", tmp_path / "merges.txt")
    assert (read.entries, read.ids, read.merges) == (
        vocabulary.entries,
        VOCABULARY,
        MERGES,
    )
    assert (tmp_path / "merges.txt").read_bytes() == b"#version: 0.2\na b\nab ab\n"
    names = ("vocabulary.json", "merges.txt")
    assert vocabulary.file_contents() == tuple(
        (tmp_path / name).read_bytes().decode("utf-8") for name in names
    )
