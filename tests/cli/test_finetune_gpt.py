"""Each of GPT's tasks from files to answers, at the shell."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from kerazoo.cli.predict import _streamed
from kerazoo.training.generation_settings import GenerationSettings


@pytest.fixture(scope="module")
def language_model(make_tiny_causal_lm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "language_model"
    make_tiny_causal_lm().save_to_preset(folder)
    return folder


def write(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text("\n".join("\t".join(row) for row in rows) + "\n")
    return path


SCORES = [
    ("text", "text_pair", "label"),
    ("the good", "good", "3.5"),
    ("a", "the", "0"),
    ("good", "good good", "4.25"),
    ("x", "the good", "1"),
]
CHOICES = [
    {"context": "the", "question": "a", "choices": ["good", "x"], "label": 0},
    {"context": "a", "question": "the", "choices": ["x", "the good", "y"], "label": 1},
    {"context": "good", "question": "x", "choices": ["the", "a"], "label": 1},
]
TEXTS = [("the good the good the",), ("good good good",), ("a the x the good",), ("the the",)]


@pytest.mark.parametrize(
    ("task", "name", "rows", "measure", "said", "answer"),
    [
        pytest.param(
            *("text-similarity", "a.tsv", SCORES, "pearson", "Pearson", {"score"}),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("multiple-choice", "a.jsonl", CHOICES, "accuracy", "guessing 0.4444"),
            {"choice", "text", "score", "scores"},
            marks=pytest.mark.slow,
        ),
        ("causal-lm", "a.txt", TEXTS, "perplexity", "perplexity", {"generated_text"}),
    ],
)
def test_from_files_to_answers(
    command, language_model, tmp_path, task, name, rows, measure, said, answer
):
    file = write(tmp_path / name, rows)
    folder = tmp_path / "out"
    result = command(
        *("finetune", task, "--preset", language_model, "--train", file, "--validation", file),
        *("--output", folder, "--epochs", 1, "--batch-size", 2, "--sequence-length", 20),
    )
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
    assert f"Model, metrics and settings: {folder}" in result.stdout
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["task"] == task
    result = command("evaluate", folder, "--data", file, "--json")
    assert json.loads(result.stdout)[measure] == pytest.approx(metrics[measure], rel=1e-4)
    result = command("evaluate", folder, "--data", file)
    printed = re.search(rf"{measure} (-?[0-9.]+)\b", result.stdout)
    assert float(printed[1]) == pytest.approx(metrics[measure], rel=1e-4, abs=6e-5)
    # JSON lines of choices need no label; a table of pairs is read by its own columns.
    options = ["--max-new-tokens", 3] if task == "causal-lm" else []
    result = command("predict", folder, "--input", file, *options)
    assert result.exit_code == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == len(rows) - (name == "a.tsv")
    for found in answers:
        assert answer <= set(found)


@pytest.mark.slow
def test_the_language_models_loss_is_reported(command, language_model, tmp_path):
    file = write(tmp_path / "a.tsv", SCORES)
    for weight, reported in ((0.5, True), (0, False)):
        result = command(
            *("finetune", "text-similarity", "--preset", language_model, "--train", file),
            *("--validation", file, "--output", tmp_path / f"out{weight}", "--epochs", 1),
            *("--lm-loss-weight", weight, "--sequence-length", 20),
        )
        assert result.exit_code == 0, result.stderr
        assert ("lm_loss" in result.stderr) == reported


@pytest.mark.slow
def test_a_terminal_gets_the_continuation_as_it_comes(language_model, capsys):
    settings = GenerationSettings(max_new_tokens=5)
    assert _streamed(str(language_model), "the good", settings)
    from kerazoo.training.preset_predictor import PresetPredictor

    predictor = PresetPredictor.from_preset(language_model, settings)
    (answer,) = predictor.answer({"text": ["the good"]}, 1)
    assert capsys.readouterr().out == answer["generated_text"] + "\n"
    assert not _streamed(str(language_model), "the", GenerationSettings(num_beams=2))
    assert not _streamed(str(language_model), "the", GenerationSettings(sliding_window=True))


# Chooses the tokens of " to be", and each but the first only when a line comes in.
WAITING = """
import sys
from kerazoo.cli.main import main
from kerazoo.generation import stream

def waiting(task, prompt, max_new_tokens, stop_token_ids):
    for token in task.preprocessor.prompt_ids([" to be"])[0]:
        yield token
        sys.stdin.readline()

stream.stream_ids = waiting
sys.argv = ["kerazoo", "predict", sys.argv[1], "--text", "the good", "--max-new-tokens", "9"]
main()
"""


def read_until(terminal, text, process, seconds=90):
    """What a terminal shows up to some text, or until the process ends or the time is over."""
    shown, end = "", time.monotonic() + seconds
    while text not in shown and process.poll() is None and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 1000).decode()
    return shown


@pytest.mark.slow
@pytest.mark.tensorflow
def test_on_a_terminal_each_token_is_shown_before_the_next_is_chosen(language_model, tmp_path):
    terminal, output = pty.openpty()
    command = [sys.executable, "-c", WAITING, str(language_model)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    try:
        for token in (" t", "o", " ", "b", "e"):
            assert read_until(terminal, token, process) == token
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert process.wait(60) == 0
        assert os.read(terminal, 1000) == b"\r\n"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        os.close(terminal)
        os.close(output)


def test_a_prompt_that_cannot_be_continued_is_told_on_a_terminal(
    command, language_model, monkeypatch
):
    monkeypatch.setattr("kerazoo.cli.predict._on_terminal", lambda: True)
    result = command("predict", language_model, "--text", "")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Prompt 0 has no token")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", "the", "--text-pair", "a"], "which reads no `text_pair`"),
        (["--text", ""], "--text number 1: the prompt has no token"),
        (["--text", "good " * 40, "--max-new-tokens", "1"], "the model has 37 positions"),
        (["--text", "the", "--top-p", "0"], "top_p=0.0"),
        (["--text", "the", "--max-new-tokens", "99"], "the model has 37 positions"),
    ],
)
def test_failures(command, language_model, arguments, message):
    result = command("predict", language_model, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_settings_that_mean_nothing_are_no_options(command):
    shown = command("finetune", "causal-lm", "--help").output
    assert "--epochs" in shown
    for option in ("--class-weight", "--lm-loss-weight", "--regression", "--pooling"):
        assert option not in shown
