import json

import pytest
from tiny_extractive_qa import LONG, ROWS, make_tiny_extractive_qa, tiny_extractive_qa

from kerazoo.data.questions import read_questions
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.extractive_qa import ExtractiveQAForm
from kerazoo.training.preset_predictor import PresetPredictor

FORM = ExtractiveQAForm()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"question": q, "context": c, "answers": [] if a is None else [a, c]} for q, c, a in ROWS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_rows_become_windows_with_the_first_answer(file):
    table = FORM.read_table(file)
    task = make_tiny_extractive_qa()
    targets = FORM.targets(table, task)
    assert targets["answer"] == [row[2] or "" for row in ROWS]
    rows = FORM.fit_rows(table, task)
    assert rows.count == len(rows.x) > len(ROWS)
    assert rows.y is rows.sample_weight is None
    task.compile()
    config = FinetuneConfig(epochs=1, batch_size=8)
    FORM.fit(task, rows, rows, config, verbose=0)
    assert task.no_answer_threshold == 0.0


def test_rows_without_answers_can_be_answered(file):
    assert [row.values["question"] for row in FORM.read_rows(file)] == [row[0] for row in ROWS]
    FORM.check_inputs(["id", "context", "question"])
    with pytest.raises(ValueError, match="every row needs `context`, `question`"):
        FORM.check_inputs(["text"])


def test_passages_are_held_out_whole(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"question": f"{n}?", "context": f"passage {n % 7}", "answer": "passage"} for n in range(21)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = read_questions(str(path))
    kept, held_out = FORM.split(table, FinetuneConfig(validation_fraction=0.3))
    assert sorted(kept + held_out) == list(range(21))
    contexts = table.columns["context"]
    assert len(held_out) == 6
    assert not {contexts[i] for i in kept} & {contexts[i] for i in held_out}


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (3, "all 3 questions are about one passage, so none can be held out"),
        (1, "the only question is about one passage, so none can be held out"),
    ],
)
def test_one_passage_cannot_be_split(tmp_path, count, message):
    path = tmp_path / "a.jsonl"
    row = {"question": "who?", "context": "ada came", "answer": "ada"}
    path.write_text((json.dumps(row) + "\n") * count)
    table = read_questions(str(path))
    with pytest.raises(ValueError, match=f"a.jsonl: {message}.*passages, or a validation file"):
        FORM.split(table, FinetuneConfig())


def test_questions_without_room_are_left_out_or_an_error(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [
        {"question": q, "context": "ada came", "answer": "ada", "id": f"{q[:4]}{len(q)}"}
        for q in ("who", "who " * 13, "a")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = tiny_extractive_qa()
    table = FORM.usable(FORM.read_table(str(path)), task)
    assert table.lines == [1, 3]
    assert "line 2 (id who 52): the question has 13 tokens" in table.skipped[0]
    strict = ExtractiveQAForm()
    strict.strict = True
    with pytest.raises(ValueError, match="line 2.*: the question has 13.*raise --sequence-length"):
        strict.usable(strict.read_table(str(path)), task)


def test_measures_are_squads_and_for_chinese_cmrcs(file):
    class Predictor:
        pairs = False

        def answer(self, columns, batch_size):
            found = ["Ada", "小明", "nothing", "cat. On", "cat", ""]
            return [{"answer": answer} for answer in found]

    metrics = FORM.measure(Predictor(), FORM.read_table(file), 4)
    assert metrics["rows"] == 6
    assert metrics["exact_match"] == pytest.approx(4 / 6)
    assert metrics["f1"] == pytest.approx((1 + 1 + 0 + 2 * 2 / 5 + 1 + 1) / 6)
    assert (metrics["no_answer_rows"], metrics["no_answer_f1"]) == (1, 1)
    assert metrics["cmrc_f1"] > 0
    assert FORM.summary({"exact_match": 0.5, "f1": 0.25}) == "exact match 0.5000, F1 0.2500"
    assert FORM.summary({**metrics, "cmrc_exact_match": 1.0, "cmrc_f1": 1.0}).endswith("F1 1.0000")


def test_a_preset_is_measured(file):
    predictor = PresetPredictor(tiny_extractive_qa())
    metrics = FORM.measure(predictor, FORM.read_table(file), 4)
    assert 0 <= metrics["f1"] <= 1
    answers = predictor.answer({"id": ["7"], "question": ["who?"], "context": [LONG]}, 3)
    assert answers[0]["answer"] == LONG[answers[0]["start"] : answers[0]["end"]]


def test_settings_decide_the_stride(file):
    table = FORM.read_table(file)
    assert FORM.task_arguments(table, FinetuneConfig()) == {}
    assert FORM.task_arguments(table, FinetuneConfig(stride=64)) == {"stride": 64}
