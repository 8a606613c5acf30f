"""These run on JAX too: an interrupted run has to reach the weights of one that was not."""

import json
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
from interruptions import at_step, fail

from kerazoo.data.row_order import RowOrder
from kerazoo.optimizers.adamw import create_optimizer
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.checkpoint_writer import RunPlan
from kerazoo.training.fit_progress import FitProgress
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.resumable_fit import resumable_fit
from kerazoo.training.run_progress import RunProgress
from kerazoo.training.unfinished_run import UnfinishedRun

STRESS = Path(__file__).parents[2] / "benchmarks" / "kill_stress.py"

exact = pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)


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


def kill(trials, tmp_path, *options):
    said = tmp_path / "said.json"
    command = [sys.executable, str(STRESS), "--small", "--trials", str(trials), *options]
    command += ["--json", str(said)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(said.read_text())


@pytest.mark.tensorflow
def test_killed_five_times(tmp_path):
    assert kill(5, tmp_path, "--steps", "8", "--eager")["trials"] == 5


@exact
@pytest.mark.slow
def test_killed_twenty_times(tmp_path):
    assert kill(20, tmp_path, "--steps", "12")["killed while writing"] > 0
