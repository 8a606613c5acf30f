import json

import pytest

from kerazoo.analysis.probe_data import ProbeData


def test_columns_of_words(tmp_path):
    path = tmp_path / "pos.conll"
    path.write_text("Ada NNP x\ncame VBD y\n\nRain NN z\n")
    data = ProbeData.of(path, "token")
    assert data.rows == [("Ada", "came"), ("Rain",)]
    assert data.labels == [("x", "y"), ("z",)]
    assert data.label_names == ["x", "y", "z"]
    assert ProbeData.of(path, "token", max_rows=1).rows == [("Ada", "came")]


def test_json_lines_of_words(tmp_path):
    path = tmp_path / "pos.jsonl"
    record = {"words": ["Ada", "came"], "tags": ["NNP", "VBD"]}
    path.write_text(json.dumps(record) + "\n\n" + json.dumps(record) + "\n")
    assert ProbeData.of(str(path), "token").labels == [("NNP", "VBD")] * 2


def test_texts_and_pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("text\ttext_pair\tlabel\na film\ta play\tno\nbad\tdull\tyes\n")
    data = ProbeData.of(path, "sequence")
    assert data.rows == [("a film", "a play"), ("bad", "dull")]
    assert data.labels == [("no",), ("yes",)]


def test_rows_in_memory():
    words = ProbeData.of(([["a", "film"], ["bad"]], [["x", "y"], ["x"]]), "token")
    assert words.rows == [("a", "film"), ("bad",)]
    texts = ProbeData.of((["a film", "bad"], [1, 0]), "sequence")
    assert texts.labels == [("1",), ("0",)]
    assert ProbeData.of(texts, "sequence", 2) == texts


@pytest.mark.parametrize(
    ("name", "content", "level", "message"),
    [
        ("a.conll", "Ada NNP\ncame\n", "token", "line 2: this line has 1 column"),
        ("a.conll", "Ada\ncame\n", "token", "line 1: there is one column"),
        ("a.jsonl", '{"words": ["Ada"], "tags": []}\n', "token", "line 1: every word needs"),
        ("a.jsonl", '{"words": "Ada", "tags": []}\n', "token", "line 1: .* lists of strings"),
        ("a.tsv", "text\tlabel\na\tx\n \ty\n", "sequence", "line 3: the text is empty"),
        ("a.tsv", "text\tlabel\na\tx\nb\tx\n", "sequence", r"two or more. Received: .*\['x'\]"),
        ("a.tsv", "text\ta\n", "word", "level='word'"),
        ("a.tsv", "text\tlabel\na\tx\n", "token", "columns text and label: give --level sequence"),
        ("a.csv", '"label","text"\nx,a\n', "token", "a.csv has the columns text and label"),
        ("a.jsonl", '{"text": "a", "label": "x"}\n', "token", "line 1 has the columns text and"),
        ("a.conll", "Ada NNP\n", "sequence", "a word and its label a line: give --level token"),
        ("a.tsv", "text\ttext_pair\tlabel\na\t \tx\n", "sequence", "2: the text_pair is empty"),
    ],
)
def test_wrong_files_are_told(name, content, level, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        ProbeData.of(tmp_path / name, level)


def test_rows_and_labels_belong_together():
    with pytest.raises(ValueError, match="2 rows, 1 of labels"):
        ProbeData.of((["a", "b"], ["x"]), "sequence")
    with pytest.raises(ValueError, match="row 1: .* 1 labels for 2"):
        ProbeData.of(([["a"], ["b", "c"]], [["x"], ["y"]]), "token")


def test_a_label_that_is_missing_is_named():
    with pytest.raises(ValueError, match="Row 1 lacks a label. Received: None"):
        ProbeData.of((["good", "bad"], ["yes", None]), "sequence")
    with pytest.raises(ValueError, match="Row 0 lacks a label"):
        ProbeData.of(([["good", "film"]], [["JJ", None]]), "token")


def test_what_is_no_data_is_refused():
    with pytest.raises(TypeError, match="a file, or a pair .* type NoneType"):
        ProbeData.of(None, "sequence")
