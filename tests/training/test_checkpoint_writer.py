import shutil
import types

import keras
import numpy as np
import pytest

from kerazoo.training.checkpoint import read_checkpoint
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.checkpoint_writer import CheckpointWriter, RunPlan, restore_state
from kerazoo.training.stop_signals import StopSignals
from kerazoo.training.unfinished_run import UnfinishedRun


def make_model():
    keras.utils.set_random_seed(3)
    layers = [keras.Input((4,)), keras.layers.Dropout(0.5, seed=7), keras.layers.Dense(2)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.1), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


@pytest.fixture
def unfinished(tmp_path):
    run = UnfinishedRun(tmp_path / "out", resume=False)
    run.begin({"seed": 3})
    return run


@pytest.fixture
def run(unfinished):
    """A function that calls a writer as `fit` would, for steps of two stretches of 5 and 4."""
    signals = StopSignals()

    def from_step(
        first, last, stop_at=None, losses=None, checkpoint_every=2, keep=2, check=lambda: None
    ):
        plan = RunPlan(9, 5, checkpoint_every, keep)
        shown = types.SimpleNamespace(step=first, history=[])
        writer = CheckpointWriter(unfinished, plan, shown, signals, check=check)
        writer.set_model(make_model())
        for step in range(first + 1, last + 1):
            shown.step = step
            signals.received = 15 if step == stop_at else signals.received
            writer.on_train_batch_end(0)
            if step in (5, 9):
                shown.history.append({"step": step})
                writer.on_epoch_end(0, {"val_loss": losses[step]} if losses else {})
        return [
            int(file.stem.removeprefix("step-")) for file in checkpoint_files(unfinished.folder)
        ]

    return from_step


def last(unfinished):
    return read_checkpoint(unfinished.folder).position


def test_it_writes_every_so_many_steps(run, unfinished):
    assert run(0, 8) == [6, 8]
    assert last(unfinished).history == [{"step": 5}]
    assert last(unfinished).run == {"seed": 3}


def test_the_last_step_is_written_too(run, unfinished):
    """What follows, to measure and to write the model, may be interrupted as well."""
    assert run(0, 9) == [8, 9]
    assert last(unfinished).history == [{"step": 5}, {"step": 9}]


def test_at_an_evaluation_it_waits_for_its_results(run, unfinished):
    assert run(0, 6, checkpoint_every=5) == [5]
    assert last(unfinished).history == [{"step": 5}]


def test_none_is_written_where_a_check_fails(run, unfinished):
    def check():
        checked.append(len(checked))
        if len(checked) == 3:
            raise ArithmeticError

    checked = []
    with pytest.raises(ArithmeticError):
        run(0, 9, check=check)
    assert [file.stem[-1] for file in checkpoint_files(unfinished.folder)] == ["2", "4"]


def test_none_unless_asked(run):
    assert run(0, 9, checkpoint_every=0, losses={5: 1.0, 9: 0.5}) == []


def test_the_best_is_written_and_kept(run, unfinished):
    assert run(0, 8, losses={5: 1.5}, keep=1) == [5, 8]
    assert last(unfinished).best == {"step": 5, "val_loss": 1.5}


@pytest.mark.parametrize(
    ("loss", "best", "steps"), [(2.5, 5, [5, 9]), (float("nan"), 5, [5, 9]), (0.5, 9, [9])]
)
def test_a_better_one_takes_its_place(run, unfinished, loss, best, steps):
    assert run(0, 9, losses={5: 1.5, 9: loss}, keep=1) == steps
    assert last(unfinished).best["step"] == best


@pytest.mark.parametrize(("step", "evaluations"), [(3, 0), (5, 1), (9, 2)])
def test_a_signal_is_answered_after_the_checkpoint(run, unfinished, step, evaluations):
    with pytest.raises(SystemExit):
        run(0, 9, stop_at=step, checkpoint_every=0)
    assert last(unfinished).step == step
    assert len(last(unfinished).history) == evaluations


def test_a_folder_that_was_deleted_is_made_again(run, unfinished):
    shutil.rmtree(unfinished.output)
    assert run(0, 3) == [2]
    again = UnfinishedRun(unfinished.output, resume=True)
    assert again.is_resumed
    again.begin({"seed": 3})


def test_a_model_goes_on_where_it_was(unfinished):
    x, y = np.ones((6, 4), "float32"), np.ones((6, 2), "float32")

    def fit(model, steps):
        for _ in range(steps):
            model.train_on_batch(x, y)
        return model

    def writer_of(model, step, resumed=None, sums=None):
        shown = types.SimpleNamespace(step=step, history=[])
        plan = RunPlan(9, 5, 2, 2)
        writer = CheckpointWriter(unfinished, plan, shown, StopSignals(), resumed, sums)
        writer.set_model(model)
        return writer

    whole = fit(make_model(), 4)
    writer_of(fit(make_model(), 2), step=2).on_train_batch_end(0)
    checkpoint = read_checkpoint(unfinished.folder)
    resumed = make_model()
    sums = restore_state(resumed, checkpoint)
    writer = writer_of(resumed, 3, checkpoint.position, sums)
    fit(resumed, 1)
    writer.on_train_batch_end(0)
    fit(resumed, 1)
    writer.on_train_batch_end(0)
    variables = [
        [*model.variables, *model.optimizer.variables, *model.metrics_variables]
        for model in (whole, resumed)
    ]
    assert len(variables[0]) > len(make_model().variables) + 2
    for a, b in zip(*variables, strict=True):
        np.testing.assert_array_equal(*map(keras.ops.convert_to_numpy, (a, b)))
