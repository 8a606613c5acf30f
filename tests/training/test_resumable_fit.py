"""These run on JAX too: an interrupted run has to reach the weights of one that was not."""

import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from kerazoo import (
    ExtractiveQA,
    ExtractiveQAPreprocessor,
    MaskedLM,
    MaskedLMPreprocessor,
    TextClassifier,
    TextClassifierPreprocessor,
    TokenClassifier,
    TokenClassifierPreprocessor,
)
from kerazoo.data.row_order import RowOrder
from kerazoo.training import finetune as module
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.checkpoint_writer import RunPlan
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune
from kerazoo.training.fit_progress import FitProgress
from kerazoo.training.optimizer import create_optimizer
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.resumable_fit import resumable_fit
from kerazoo.training.run_progress import RunProgress
from kerazoo.training.unfinished_run import UnfinishedRun

STRESS = Path(__file__).parents[2] / "benchmarks" / "kill_stress.py"
WORDS = "the a film was is good bad very not play great dull".split()
TEXTS, MASKS = "text-classification", "masked-lm"
TAGGING, QUESTIONS = "token-classification", "extractive-qa"  # these train on windows

exact = pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)


@pytest.fixture(scope="module")
def preset(make_tiny_backbone, tiny_tokenizer, tmp_path_factory):
    """A function that returns the preset of a task, with dropout."""

    @functools.cache
    def of(task_name):
        task, preprocessor = {
            TEXTS: (TextClassifier, TextClassifierPreprocessor),
            MASKS: (MaskedLM, MaskedLMPreprocessor),
            TAGGING: (TokenClassifier, TokenClassifierPreprocessor),
            QUESTIONS: (ExtractiveQA, ExtractiveQAPreprocessor),
        }[task_name]
        labels = {TEXTS: ["bad", "good"], TAGGING: ["O", "B-X", "I-X"]}.get(task_name)
        folder = tmp_path_factory.mktemp("preset") / task_name
        task(
            make_tiny_backbone(num_layers=1, dropout=0.2),
            preprocessor=preprocessor(tiny_tokenizer, sequence_length=9),
            **({} if labels is None else {"labels": labels}),
        ).save_to_preset(folder)
        return str(folder)

    return of


@pytest.fixture(scope="module")
def train_file(tmp_path_factory):
    """A function that returns a file to train on; of a text to tag, some have two windows."""

    @functools.cache
    def of(task_name):
        draw = np.random.default_rng(3)
        rows = []
        for label in ["good", "bad", "bad"] * 6:
            words = draw.choice(WORDS, draw.integers(4, 12)).tolist()
            rows.append(
                {
                    TAGGING: {"words": words, "tags": ["B-X", "I-X", *["O"] * (len(words) - 2)]},
                    QUESTIONS: {
                        "question": "was it",
                        "context": " ".join(words),
                        "answer": words[0],
                        "answer_start": 0,
                    },
                }.get(task_name, {"text": " ".join(words[:7]), "label": label})
            )
        file = tmp_path_factory.mktemp("rows") / "train.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(file)

    return of


@pytest.fixture
def train(preset, train_file, monkeypatch):
    """A function that fine-tunes and returns all variables and the history."""

    def into(output, task_name=TEXTS, **settings):
        kept = {}
        load = module._load_task

        def remembered(*arguments):
            kept["task"] = load(*arguments)
            return kept["task"]

        config = {"epochs": 2, "batch_size": 5, "learning_rate": 0.01, "checkpoint_every": 3}
        config = FinetuneConfig(**{**config, **settings})
        with monkeypatch.context() as patch:
            patch.setattr(module, "_load_task", remembered)
            files = (train_file(task_name),) * 2
            result = finetune(task_name, preset(task_name), *files, output, config, resume=True)
        task = kept.get("task")
        state = [] if task is None else [*task.variables, *task.optimizer.variables]
        values = {f"{i} {v.name}": keras.ops.convert_to_numpy(v) for i, v in enumerate(state)}
        times = ("seconds", "waiting_share")
        epochs = result.metrics["epochs"]
        return values, [{k: v for k, v in e.items() if k not in times} for e in epochs]

    return into


def at_step(monkeypatch, step, action):
    """Do something when a step is done."""
    original = RunProgress.on_train_batch_end

    def then_act(self, batch, logs=None):
        original(self, batch, logs)
        if self.step == step:
            action()

    monkeypatch.setattr(RunProgress, "on_train_batch_end", then_act)


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


def fail():
    raise RuntimeError("killed")


@exact
@pytest.mark.slow
@pytest.mark.parametrize("task_name", [TEXTS, MASKS, TAGGING, QUESTIONS])
def test_an_interrupted_run_reaches_the_same_weights(train, task_name, monkeypatch, tmp_path):
    values, epochs = train(tmp_path / "whole", task_name)
    steps = [epoch["step"] for epoch in epochs]
    assert steps == ([4, 8] if task_name in (TEXTS, MASKS) else [steps[0], 2 * steps[0]])
    # The windows of 18 rows make more than four batches of five.
    assert steps[0] > 4 or task_name in (TEXTS, MASKS)
    parts = tmp_path / "parts"
    with monkeypatch.context() as patch, pytest.raises(SystemExit) as stopped:
        at_step(patch, 2, terminate)  # within an epoch
        train(parts, task_name)
    assert stopped.value.code == 143
    assert [file.stem for file in checkpoint_files(parts / ".unfinished")] == ["step-000000002"]
    values_of_parts, epochs_of_parts = train(parts, task_name)
    assert epochs_of_parts == epochs
    assert set(values_of_parts) == set(values)
    for name, value in values.items():
        np.testing.assert_array_equal(value, values_of_parts[name], err_msg=name)
    left = {path.name for path in parts.iterdir()}
    assert {"metrics.json", "history.jsonl"} < left
    assert ".unfinished" not in left
    lines = (parts / "history.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == steps


def fit_small(output, progress=SILENT):
    """Train a dense layer for two epochs of four steps, and return its weights."""
    rows = np.random.default_rng(5).normal(size=(18, 3)).astype("float32")
    keras.utils.set_random_seed(7)
    layers = [keras.Input((3,)), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    model = keras.Sequential(layers)
    model.compile(create_optimizer(0.1, on_non_finite="stop"), "mse")
    run = UnfinishedRun(output, resume=True)
    run.begin({})

    def fit(part, **options):
        batches = RowOrder(3, part.first_step).batches((rows, rows[:, :2]), 5)
        model.fit(batches, validation_data=(rows, rows[:, :2]), shuffle=False, **options)

    resumable_fit(
        *(model, fit, run, RunPlan(8, 4, 3, 2)),
        lambda step, said: FitProgress(SILENT, 4, 2, step, said),
        rows_of_batch=str,
        progress=progress,
    )
    run.finish()
    return model.get_weights()


@pytest.fixture(scope="module")
def small_weights(tmp_path_factory):
    """The weights of `fit_small` where nothing interrupts it."""
    return fit_small(tmp_path_factory.mktemp("whole") / "out")


@exact
def test_batches_that_were_done_are_not_read_again(small_weights, monkeypatch, tmp_path):
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        at_step(patch, 7, fail)
        fit_small(tmp_path / "out")
    steps = []
    original = RunProgress.on_train_batch_end
    monkeypatch.setattr(
        RunProgress,
        "on_train_batch_end",
        lambda self, batch, logs=None: (original(self, batch, logs), steps.append(self.step)),
    )
    for a, b in zip(small_weights, fit_small(tmp_path / "out"), strict=True):
        np.testing.assert_array_equal(a, b)
    assert steps == [7, 8]


@pytest.mark.tensorflow
def test_for_a_damaged_checkpoint_the_one_before_is_taken(
    small_weights, monkeypatch, tmp_path, capsys
):
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        at_step(patch, 7, fail)
        fit_small(tmp_path / "out")
    *_, before, last = checkpoint_files(tmp_path / "out" / ".unfinished")
    content = bytearray(last.read_bytes())
    content[-1] ^= 1
    last.write_bytes(content)
    again = fit_small(tmp_path / "out", Progress())
    said = capsys.readouterr().err
    assert f"{last.name} is damaged" in said
    assert f"Going on after step {int(before.stem[-9:])} of 8." in said
    for a, b in zip(small_weights, again, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_another_setting_is_refused_and_one_of_saving_is_not(train, monkeypatch, tmp_path):
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        at_step(patch, 4, fail)
        train(tmp_path / "out")
    with pytest.raises(ValueError, match=r"only checkpoint_every.*Received: batch_size=6 instead"):
        train(tmp_path / "out", batch_size=6)
    train(tmp_path / "out", checkpoint_every=1, keep_checkpoints=1)
    monkeypatch.setattr(TextClassifier, "fit", fail)  # a complete run is not trained again
    _, epochs = train(tmp_path / "out")
    assert [epoch["step"] for epoch in epochs] == [4, 8]


@pytest.mark.tensorflow
@pytest.mark.slow
def test_bad_rows_are_named_and_may_be_left_out(train, train_file, monkeypatch, tmp_path):
    original = TextClassifier.compute_loss
    bad = []

    def compute_loss(self, x, y, *arguments, **options):
        bad.append(None)
        loss = original(self, x, y, *arguments, **options)
        return loss * (float("nan") if len(bad) == 4 else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(TextClassifier, "compute_loss", compute_loss)
        with pytest.raises(ValueError) as raised:
            train(tmp_path / "out")
    told = str(raised.value)
    lines = [int(n) for n in told.split("has lines ")[1].split(" of ")[0].split(", ")]
    assert "gradient of step 4 is" in told
    assert f"of {train_file(TEXTS)}. " in told
    assert "step-000000003" in told
    assert len(lines) == 3  # the last batch of the epoch: 18 rows in fives
    train(tmp_path / "out", on_non_finite="skip")


def kill(trials, tmp_path, *options):
    said = tmp_path / "said.json"
    command = [sys.executable, str(STRESS), "--small", "--trials", str(trials), *options]
    command += ["--json", str(said)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(said.read_text())


@pytest.mark.tensorflow
def test_killed_three_times(tmp_path):
    assert kill(3, tmp_path, "--steps", "8", "--eager")["trials"] == 3


@exact
@pytest.mark.slow
def test_killed_twenty_times(tmp_path):
    assert kill(20, tmp_path)["killed while writing"] > 0
