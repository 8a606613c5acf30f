import json

import pytest
from tiny_token_classifier import (
    ENTITIES,
    LABELS,
    TAGS,
    TEXTS,
    WORDS,
    make_tiny_token_classifier,
    tiny_token_classifier,
)

from kerazoo.data.tagged_texts import read_tagged_texts
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.token_classification import TokenClassificationForm
from kerazoo.training.preset_predictor import PresetPredictor

FORM = TokenClassificationForm()


@pytest.fixture
def conll(tmp_path):
    path = tmp_path / "a.conll"
    lines = [
        "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))
        for words, tags in zip(WORDS, TAGS, strict=True)
    ]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture
def spans(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"text": text, "entities": [dict(zip(("start", "end", "type"), e, strict=True)) for e in r]}
        for text, r in zip(TEXTS, ENTITIES, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_rows_become_windows_with_tags(conll, spans):
    for file, targets in ((conll, TAGS), (spans, ENTITIES)):
        table = FORM.read_table(file)
        task = make_tiny_token_classifier()
        assert FORM.targets(table, task) == targets
        rows = FORM.fit_rows(table, task)
        assert rows.count == len(rows.x) > len(targets)
        assert rows.y is rows.sample_weight is None
        last = f"{table.unit}s {table.lines[0]}, {table.lines[-1]} of {file}"
        assert FORM.where(table, rows, [rows.count - 1, 0]) == last
    task.compile()
    config = FinetuneConfig(epochs=1, batch_size=8, class_weight="balanced")
    FORM.fit(task, rows, rows, config, verbose=0)


def test_files_decide_the_tags_and_settings_the_rest(conll, spans):
    expected = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
    for file in (conll, spans):
        table = FORM.read_table(file)
        FORM.check(table, table, FinetuneConfig())
        assert FORM.task_arguments(table, FinetuneConfig()) == {"labels": expected}
    config = FinetuneConfig(stride=64, crf=True, ban_illegal_moves=True, label_all_pieces=False)
    assert FORM.task_arguments(table, config) == {
        "labels": expected,
        "stride": 64,
        "crf": True,
        "ban_illegal_moves": True,
        "label_all_pieces": False,
    }
    kept, held_out = FORM.split(table, FinetuneConfig(validation_fraction=0.3))
    assert sorted(kept + held_out) == list(range(6))


def test_a_file_of_one_row_cannot_be_split(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("Ada B-PER\ncame O\n")
    table = FORM.read_table(str(path))
    with pytest.raises(ValueError, match=r"a\.conll: .*two rows or more.*--validation") as raised:
        FORM.split(table, FinetuneConfig())
    assert "label" not in str(raised.value)


def test_rows_with_types_that_no_other_row_has_are_learnt_from(tmp_path):
    path = tmp_path / "a.conll"
    kinds = [*["PER", "LOC"] * 4, "ORG", "DATE", "LAW"]
    path.write_text("\n".join(f"Ada B-{kind}\n" for kind in kinds))
    table = FORM.read_table(str(path))
    sizes = set()
    for seed in range(12):
        kept, held_out = FORM.split(table, FinetuneConfig(validation_fraction=0.4, seed=seed))
        assert sorted(kept + held_out) == list(range(11))
        assert kept == sorted(kept)
        assert {8, 9, 10} <= set(kept)
        FORM.check(table.take(kept), table.take(held_out), FinetuneConfig())
        sizes.add(len(held_out))
    assert min(sizes) < 4 == max(sizes)  # 0.4 * 11, less those with a type of their own
    path.write_text("\n".join(f"Ada B-{kind}\n" for kind in ("PER", "LOC")))
    with pytest.raises(ValueError, match=r"a\.conll: .*type that no other.*--validation"):
        FORM.split(FORM.read_table(str(path)), FinetuneConfig())


def test_types_that_nobody_taught_and_no_types_at_all(tmp_path, conll):
    train = FORM.read_table(conll)
    (tmp_path / "b.conll").write_text("Ada O\n\nAda B-PER\ncame B-ORG\n")
    other = FORM.read_table(str(tmp_path / "b.conll"))
    with pytest.raises(ValueError, match="b.conll, line 3: the type 'ORG' is unknown.*LOC, PER"):
        FORM.check(train, other, FinetuneConfig())
    with pytest.raises(ValueError, match="the type 'ORG' is unknown.*knows LOC, PER"):
        FORM.measure(PresetPredictor(tiny_token_classifier()), other, 4)
    (tmp_path / "c.conll").write_text("Ada O\n")
    with pytest.raises(ValueError, match="c.conll: no sentence has an entity"):
        FORM.task_arguments(FORM.read_table(str(tmp_path / "c.conll")), FinetuneConfig())


def test_rows_without_tags_can_be_answered(conll, spans):
    assert [row.values["words"] for row in FORM.read_rows(conll)] == WORDS
    assert [row.values["text"] for row in FORM.read_rows(spans)] == TEXTS
    FORM.check_inputs(["text"])
    FORM.check_inputs(["words"])
    with pytest.raises(ValueError, match="every row needs `text`"):
        FORM.check_inputs(["question"])


class Predictor:
    """Answers with what it is given."""

    pairs = False
    labels = LABELS

    def __init__(self, answers):
        self.answers = answers

    def answer(self, columns, batch_size):
        return self.answers


def test_measures_of_words_are_those_of_their_tags(conll):
    table = FORM.read_table(conll)
    tags = [list(row) for row in TAGS]
    tags[0][0], tags[4][0] = "I-PER", "B-LOC"
    answers = [{"tags": row, "illegal_moves": row is tags[0]} for row in tags]
    metrics = FORM.measure(Predictor(answers), table, 4)
    # Eight entities; one is of another type.
    assert metrics["f1"] == metrics["precision"] == metrics["recall"] == pytest.approx(7 / 8)
    assert (metrics["rows"], metrics["illegal_moves"]) == (5, 1)
    assert metrics["types"]["LOC"]["support"] == 3
    assert FORM.summary(metrics) == "entities: precision 0.8750, recall 0.8750, F1 0.8750"


def test_measures_of_texts_are_those_of_characters(spans):
    table = FORM.read_table(spans)
    answers = [
        {"entities": [{"start": a, "end": b, "type": kind} for a, b, kind in row]}
        for row in ENTITIES
    ]
    assert FORM.measure(Predictor(answers), table, 4)["f1"] == 1
    answers[0]["entities"][0]["end"] += 1
    metrics = FORM.measure(Predictor(answers), table, 4)
    assert metrics["f1"] == pytest.approx(7 / 8)
    assert "illegal_moves" not in metrics


def test_a_preset_is_measured(conll, spans):
    predictor = PresetPredictor(tiny_token_classifier())
    for file in (conll, spans):
        metrics = FORM.measure(predictor, FORM.read_table(file), 4)
        assert 0 <= metrics["f1"] <= 1
        json.dumps(metrics)


def test_the_tag_scheme_is_that_of_the_form(tmp_path):
    (tmp_path / "a.conll").write_text("Ada S-PER\n")
    form = TokenClassificationForm()
    form.tag_scheme, form.strict = "bioes", True
    assert form.read_table(str(tmp_path / "a.conll")).columns["tags"] == [["B-PER"]]
    with pytest.raises(ValueError, match="--tag-scheme bio"):
        read_tagged_texts(str(tmp_path / "a.conll"), strict=True)
