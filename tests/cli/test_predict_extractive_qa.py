"""Questions about passages on the command line: trained, measured, answered, exported."""

import json

import pytest
from tiny_extractive_qa import LONG, ROWS, tiny_extractive_qa


@pytest.fixture(scope="module")
def qa_preset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "qa"
    tiny_extractive_qa().save_to_preset(folder)
    return folder


@pytest.fixture
def squad(tmp_path):
    """Five questions with answers, one without, one whose answer is not where it says."""
    paragraphs = [
        {
            "context": context,
            "qas": [
                {
                    "id": f"q{number}",
                    "question": question,
                    "is_impossible": answer is None,
                    "answers": []
                    if answer is None
                    else [{"text": answer, "answer_start": context.index(answer)}],
                }
            ],
        }
        for number, (question, context, answer) in enumerate(ROWS)
    ]
    wrong = {"id": "w", "question": "?", "answers": [{"text": "Ada", "answer_start": 0}]}
    paragraphs[0]["qas"].append(wrong)
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    return path


def answers(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_questions_are_answered_as_json_lines(command, qa_preset, squad):
    (found,) = answers(
        command("predict", qa_preset, "--question", "who came?", "--context", LONG, "--quiet")
    )
    expected = tiny_extractive_qa().answer("who came?", LONG)
    assert found["answer"] == expected["answer"] == LONG[found["start"] : found["end"]]
    rows = answers(command("predict", qa_preset, "--input", squad, "--quiet"))
    assert [row["id"] for row in rows] == ["q0", "w", "q1", "q2", "q3", "q4", "q5"]
    assert all(row["context"][row["start"] : row["end"]] == row["answer"] for row in rows)


def test_on_a_terminal_the_answer_stands_in_its_context(command, qa_preset, monkeypatch):
    from kerazoo.cli import predict as module

    monkeypatch.setattr(module, "_on_terminal", lambda: True)
    result = command("predict", qa_preset, "--question", "who came?", "--context", "Ada came.")
    assert result.stdout.splitlines()[0] == "who came?"
    assert "characters" in result.stdout


def test_measures_and_rows_that_are_left_out(command, qa_preset, squad):
    (report,) = answers(command("evaluate", qa_preset, "--data", squad, "--json"))
    assert (report["rows"], report["skipped_rows"], report["no_answer_rows"]) == (6, 1, 1)
    assert {"exact_match", "f1", "has_answer_f1", "cmrc_f1"} <= set(report)
    result = command("evaluate", qa_preset, "--data", squad)
    assert "1 of 7 rows is left out" in result.stderr
    assert "question 2 (id w): the answer does not begin at character 0" in result.stderr
    strict = command("evaluate", qa_preset, "--data", squad, "--strict")
    assert strict.exit_code == 1
    assert "question 2 (id w)" in strict.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--question", "who?"],
        ["--context", "Ada came."],
        ["--question", "who?", "--context", "Ada", "--text", "a"],
    ],
)
def test_wrong_usage(command, qa_preset, options):
    assert command("predict", qa_preset, *options).exit_code == 2


@pytest.mark.slow
@pytest.mark.compiled
def test_train_export_and_ask(command, qa_preset, squad, tmp_path):
    result = command(
        *("finetune", "extractive-qa", "--preset", qa_preset, "--train", squad),
        *("--validation", squad, "--output", tmp_path / "out", "--epochs", 1, "--json"),
    )
    assert result.exit_code == 0, result.stderr
    metrics = json.loads(result.stdout)
    assert (metrics["train_rows"], metrics["skipped_rows"]) == (6, 2)
    assert "f1" in metrics
    result = command("export", tmp_path / "out", "--output", tmp_path / "served", "--json")
    assert result.exit_code == 0, result.stderr
    asked = ("--input", squad, "--quiet")
    preset = answers(command("predict", tmp_path / "out", *asked))
    exported = answers(command("predict", tmp_path / "served", *asked))
    assert [row["answer"] for row in preset] == [row["answer"] for row in exported]
