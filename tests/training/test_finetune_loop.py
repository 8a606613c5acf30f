"""These run on JAX too: an interrupted run has to reach the weights of one that was not."""

import functools
import json
import os
import signal

import keras
import numpy as np
import pytest
from interruptions import at_step, fail

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
from kerazoo.training import finetune as module
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune

WORDS = "the a film was is good bad very not play great dull".split()
TEXTS, MASKS = "text-classification", "masked-lm"
TAGGING, QUESTIONS = "token-classification", "extractive-qa"  # these train on windows


@pytest.fixture(scope="module")
def preset_of(make_tiny_backbone, tiny_tokenizer, tmp_path_factory):
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
def file_of(tmp_path_factory):
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
def train(preset_of, file_of, monkeypatch):
    """A function that fine-tunes and returns all variables and the history."""

    def into(output, task_name=TEXTS, strategy="none", **settings):
        kept = {}
        load = module._load_task

        def remembered(*arguments):
            kept["task"] = load(*arguments)
            return kept["task"]

        config = {"epochs": 2, "batch_size": 5, "learning_rate": 0.01, "checkpoint_every": 3}
        config = FinetuneConfig(**{**config, **settings})
        with monkeypatch.context() as patch:
            patch.setattr(module, "_load_task", remembered)
            files = (file_of(task_name),) * 2
            arguments = (task_name, preset_of(task_name), *files, output, config)
            result = finetune(*arguments, resume=True, strategy=strategy)
        task = kept.get("task")
        state = [] if task is None else [*task.variables, *task.optimizer.variables]
        values = {f"{i} {v.name}": keras.ops.convert_to_numpy(v) for i, v in enumerate(state)}
        times = ("seconds", "waiting_share")
        epochs = result.metrics["epochs"]
        return values, [{k: v for k, v in e.items() if k not in times} for e in epochs]

    return into


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("task_name", "settings"),
    [
        (TEXTS, {}),
        (MASKS, {"bucket_width": 4}),
        (TAGGING, {"bucket_width": 4}),
        (QUESTIONS, {"batch_size": 9}),
    ],
)
def test_an_interrupted_run_reaches_the_same_weights(
    train, task_name, settings, monkeypatch, tmp_path
):
    values, epochs = train(tmp_path / "whole", task_name, **settings)
    steps = [epoch["step"] for epoch in epochs]
    assert steps == ([4, 8] if task_name in (TEXTS, MASKS) else [steps[0], 2 * steps[0]])
    # The windows of 18 rows make more than four batches of five, or of nine.
    assert steps[0] > 4 or task_name in (TEXTS, MASKS)
    parts = tmp_path / "parts"
    with monkeypatch.context() as patch, pytest.raises(SystemExit) as stopped:
        at_step(patch, 2, terminate)  # within an epoch
        train(parts, task_name, **settings)
    assert stopped.value.code == 143
    assert [file.stem for file in checkpoint_files(parts / ".unfinished")] == ["step-000000002"]
    values_of_parts, epochs_of_parts = train(parts, task_name, **settings)
    assert epochs_of_parts == epochs
    assert set(values_of_parts) == set(values)
    for name, value in values.items():
        np.testing.assert_array_equal(value, values_of_parts[name], err_msg=name)
    left = {path.name for path in parts.iterdir()}
    assert {"metrics.json", "history.jsonl"} < left
    assert ".unfinished" not in left
    lines = (parts / "history.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == steps


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("backend", "strategy", "accumulate"),
    [("tensorflow", "mirrored", 1), ("jax", "data_parallel", 1), ("jax", "model_parallel", 2)],
)
def test_an_interrupted_run_of_two_devices_reaches_the_same_weights(
    train, backend, strategy, accumulate, monkeypatch, tmp_path
):
    if backend != keras.config.backend():
        pytest.skip("It is of another backend.")
    # All batches have six rows, as another number would be traced again.
    settings = {"strategy": strategy, "batch_size": 6, "accumulate": accumulate}
    settings["checkpoint_every"] = 5  # within the second epoch, and within what is accumulated
    values, epochs = train(tmp_path / "whole", **settings)
    parts = tmp_path / "parts"
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        at_step(patch, 6, fail)
        train(parts, **settings)
    assert checkpoint_files(parts / ".unfinished")[-1].stem == "step-000000005"
    values_of_parts, epochs_of_parts = train(parts, **settings)
    assert epochs_of_parts == epochs
    for name, value in values.items():
        np.testing.assert_array_equal(value, values_of_parts[name], err_msg=name)


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
def test_bad_rows_are_named_and_may_be_left_out(train, file_of, monkeypatch, tmp_path):
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
    assert f"of {file_of(TEXTS)}. " in told
    assert "step-000000003" in told
    assert len(lines) == 3  # the last batch of the epoch: 18 rows in fives
    train(tmp_path / "out", on_non_finite="skip")
