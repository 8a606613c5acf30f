import gzip
import io
import json
import sys

import pytest

from kerazoo.data.tagged_texts import TextEntity, read_tagged_texts, rows_to_tag, tagged_rows

TEXT = "Dr 小明 met 😀 Ada."
GOOD = {
    "text": TEXT,
    "entities": [
        {"start": 12, "end": 15, "type": "PER"},
        {"start": 3, "end": 5, "type": "PER", "text": "小明"},
    ],
}
CONLL = "Ada NNP B-PER\ncame VBD O\n\nNew X B-LOC\nYork X I-LOC\n"


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_words_with_tags_in_columns(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    table = read_tagged_texts(str(path))
    assert table.columns == {
        "words": [["Ada", "came"], ["New", "York"]],
        "tags": [["B-PER", "O"], ["B-LOC", "I-LOC"]],
    }
    assert table.lines == [1, 4]
    with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
        file.write(CONLL)
    assert read_tagged_texts(str(tmp_path / "a.txt.gz")).columns == table.columns
    rows = list(tagged_rows(str(path), with_tags=False))
    assert [row.values for row in rows] == [{"words": ["Ada", "came"]}, {"words": ["New", "York"]}]


def test_texts_with_spans_and_words_with_tags_in_jsonl(tmp_path):
    table = read_tagged_texts(write(tmp_path / "a.jsonl", GOOD, {"text": "", "entities": []}))
    assert table.columns["entities"] == [
        [TextEntity(3, 5, "PER"), TextEntity(12, 15, "PER")],
        [],
    ]
    assert [TEXT[e.start : e.end] for e in table.columns["entities"][0]] == ["小明", "Ada"]
    path = write(tmp_path / "b.jsonl", {"words": ["New", "York"], "tags": ["B-X", "E-X"]})
    assert read_tagged_texts(path, "bioes").columns["tags"] == [["B-X", "I-X"]]
    rows = list(tagged_rows(write(tmp_path / "c.jsonl", {"text": "a"}), with_tags=False))
    assert rows[0].values == {"text": "a"}


def test_standard_input_is_looked_at(monkeypatch):
    for content, keys in ((CONLL, ["words", "tags"]), (json.dumps(GOOD), ["text", "entities"])):
        stream = io.TextIOWrapper(io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert list(read_tagged_texts("-").columns) == keys


def test_what_is_to_be_tagged_comes_in_more_forms(tmp_path, monkeypatch):
    (tmp_path / "a.conll").write_text(CONLL)
    (tmp_path / "a.txt").write_text("Ada came\n\ncats\n")
    (tmp_path / "a.tsv").write_text("label\ttext\nx\tAda came\n")
    words = write(tmp_path / "a.jsonl", {"words": ["Ada"]})

    def read(path):
        return [row.values for row in rows_to_tag(str(path))]

    assert read(tmp_path / "a.conll")[1] == {"words": ["New", "York"]}
    assert read(tmp_path / "a.txt") == [{"text": "Ada came"}, {"text": ""}, {"text": "cats"}]
    assert read(tmp_path / "a.tsv") == [{"text": "Ada came"}]
    assert read(words) == [{"words": ["Ada"]}]
    for content, expected in (("Ada came", {"text": "Ada came"}), ('{"text": "a"}', {"text": "a"})):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert read("-") == [expected]


BAD = [
    ({"start": 0, "end": 99, "type": "PER"}, "the text ends at character 16"),
    ({"start": 3, "end": 3, "type": "PER"}, "start=3, end=3"),
    ({"start": -2, "end": 3, "type": "PER"}, "start=-2"),
    ({"start": 0.5, "end": 3, "type": "PER"}, "numbers of characters"),
    ({"start": True, "end": 3, "type": "PER"}, "numbers of characters"),
    ({"start": 3, "end": 5}, "an entity needs start, end, type"),
    ({"start": 3, "end": 5, "type": ""}, "type of an entity is empty"),
    ({"start": 3, "end": 5, "type": 7}, "`type` must be a string"),
    ({"start": 2, "end": 5, "type": "PER"}, "white space.*' 小明'"),
    ({"start": 14, "end": 16, "type": "PER"}, r"overlap.*'Ada' \(12 to 15\) and 'a.' \(14 to 16\)"),
    ({"start": 0, "end": 2, "type": "X", "text": "Mr"}, "another part of the text.*'Mr' for 'Dr'"),
    ("Ada", "an entity needs"),
]


@pytest.mark.parametrize(("entity", "message"), BAD)
def test_bad_spans_are_left_out_and_named_or_an_error(tmp_path, entity, message):
    bad = {**GOOD, "entities": [GOOD["entities"][0], entity]}
    path = write(tmp_path / "a.jsonl", GOOD, bad)
    table = read_tagged_texts(path)
    assert (len(table), len(table.skipped)) == (1, 1)
    with pytest.raises(ValueError, match=f"a.jsonl, line 2: .*{message}"):
        read_tagged_texts(path, strict=True)
    with pytest.raises(ValueError, match="none of its sentences can be used .1.; the first: "):
        read_tagged_texts(write(tmp_path / "b.jsonl", bad))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"words": ["a"], "tags": ["O", "O"]}, "words=1, tags=2"),
        ({"words": ["a", ""], "tags": ["O", "O"]}, "an entry of `words` is empty"),
        ({"words": "a", "tags": ["O"]}, "`words` must be a list"),
        ({"words": ["a"]}, "`tags` must be a list"),
        ({"words": ["a"], "tags": [1]}, "`tags` must be a string"),
        ({"text": "a"}, r'`entities` must be a list; .* without any has "entities": \[\]'),
        ({"text": "a", "words": ["a"]}, "either `words` and `tags`, or"),
        ({"label": "a"}, "either `words` and `tags`, or"),
        ({"words": ["a", "b"], "tags": ["O", "I-X"]}, "line 2, word 2: I-X follows O.*--tag-sch"),
    ],
)
def test_other_bad_rows(tmp_path, row, message):
    good = {"words": ["a"], "tags": ["B-X"]}
    with pytest.raises(ValueError, match=message):
        read_tagged_texts(write(tmp_path / "a.jsonl", good, row), strict=True)


def test_bad_sentences_of_columns_name_the_line_of_the_word(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a B-X\nb I-Y\n\nc O\nd\n\ne I-X\n\nf B-X\n")
    table = read_tagged_texts(str(path))
    assert table.columns["words"] == [["f"]]
    first, second, third = table.skipped
    assert "a.conll, line 2: I-Y follows B-X" in first
    assert first.endswith("with --tag-scheme. Received: --tag-scheme bio")
    assert "a.conll, line 5: this line has 1 column, and the first one of the file 2" in second
    assert "a.conll, line 7: I-X is the first tag" in third
    assert "3 of 4 rows are left out" in table.skipped_note()
    path.write_text("f B-X\ng O\n\nc X O\n")
    with pytest.raises(ValueError, match="a.conll, line 4: this line has 3 columns.*the file 2"):
        read_tagged_texts(str(path), strict=True)
    path.write_text("Ada\ncame\n")
    with pytest.raises(ValueError, match="line 1: there is one column"):
        read_tagged_texts(str(path), strict=True)


def test_wrong_files(tmp_path):
    with pytest.raises(ValueError, match="a.xml: the ending.*\\.conll.*\\.jsonl"):
        read_tagged_texts("a.xml")
    with pytest.raises(ValueError, match="line 2: this row has `words`, `tags`, and those before"):
        read_tagged_texts(
            write(tmp_path / "a.jsonl", GOOD, {"words": ["a"], "tags": ["O"]}), strict=True
        )
    (tmp_path / "e.conll").write_text("\n\n")
    with pytest.raises(ValueError, match="e.conll holds no sentence"):
        read_tagged_texts(str(tmp_path / "e.conll"))
