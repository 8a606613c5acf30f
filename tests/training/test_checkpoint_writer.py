import types

import keras
import numpy as np
import pytest

from kerazoo.training.checkpoint import checkpoint_files, read_checkpoint
from kerazoo.training.checkpoint_writer import CheckpointWriter, restore_state
from kerazoo.training.pretrain_config import PretrainConfig


def make_model():
    keras.utils.set_random_seed(3)
    layers = [keras.Input((4,)), keras.layers.Dropout(0.5, seed=7), keras.layers.Dense(2)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.1), "mse")
    model.optimizer.build(model.trainable_variables)
    return model


class Signals:
    received = None

    def stop(self):
        if self.received:
            raise SystemExit(self.received)


@pytest.fixture
def run(tmp_path):
    """A function that calls a writer as `fit` would, for steps of two stretches of 5 and 4."""
    signals = Signals()

    def from_step(first, last, stop_at=None, **settings):
        config = PretrainConfig(evaluate_every=5, **settings)
        progress = types.SimpleNamespace(step=first, history=[])
        writer = CheckpointWriter(tmp_path, config, 9, progress, signals)
        writer.set_model(make_model())
        for step in range(first + 1, last + 1):
            progress.step = step
            signals.received = 15 if step == stop_at else signals.received
            writer.on_train_batch_end(0)
            if step in (5, 9):
                progress.history.append({"step": step})
                writer.on_epoch_end(0)
        return [int(file.stem.removeprefix("step-")) for file in checkpoint_files(tmp_path)]

    return from_step


def test_it_writes_every_so_many_steps(run, tmp_path):
    assert run(0, 9, checkpoint_every=2) == [6, 8]
    assert read_checkpoint(tmp_path).history == [{"step": 5}]


def test_at_an_evaluation_it_waits_for_its_results(run, tmp_path):
    assert run(0, 6, checkpoint_every=5) == [5]
    assert read_checkpoint(tmp_path).history == [{"step": 5}]


def test_none_unless_asked(run):
    assert run(0, 9, checkpoint_every=0) == []


@pytest.mark.parametrize(("step", "evaluations"), [(3, 0), (5, 1), (9, 2)])
def test_a_signal_is_answered_after_the_checkpoint(run, tmp_path, step, evaluations):
    with pytest.raises(SystemExit):
        run(0, 9, stop_at=step, checkpoint_every=0)
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.step == step
    assert len(checkpoint.history) == evaluations


def test_a_model_goes_on_where_it_was(tmp_path):
    x, y = np.ones((6, 4), "float32"), np.ones((6, 2), "float32")

    def fit(model, steps):
        for _ in range(steps):
            model.train_on_batch(x, y)
        return model

    def writer_of(model, step, resumed=None):
        progress = types.SimpleNamespace(step=step, history=[])
        config = PretrainConfig(evaluate_every=5, checkpoint_every=2)
        writer = CheckpointWriter(tmp_path, config, 9, progress, Signals(), resumed)
        writer.set_model(model)
        return writer

    whole = fit(make_model(), 4)
    writer_of(fit(make_model(), 2), step=2).on_train_batch_end(0)
    checkpoint = read_checkpoint(tmp_path)
    resumed = make_model()
    restore_state(resumed, checkpoint)
    writer = writer_of(resumed, 3, checkpoint)
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
