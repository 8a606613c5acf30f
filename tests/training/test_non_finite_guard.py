import keras
import numpy as np
import pytest

from kerazoo.optimizers.adamw import create_optimizer
from kerazoo.training import non_finite_guard as module
from kerazoo.training.non_finite_guard import NonFiniteError, NonFiniteGuard
from kerazoo.training.progress import Progress
from kerazoo.training.run_progress import RunProgress


def fit(folder, on_non_finite="stop", bad_row=9, loss="mse", epochs=1):
    rows, targets = np.ones((20, 3), "float32"), np.ones((20, 2), "float32")
    rows[bad_row, 1] = np.nan
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(create_optimizer(0.1, on_non_finite=on_non_finite), loss)
    shown = RunProgress(Progress(quiet=True))
    guard = NonFiniteGuard(shown, Progress(), folder, lambda number: f"the rows of {number}")
    callbacks = [shown, guard]
    model.fit(rows, targets, 4, epochs, 0, callbacks, shuffle=False)
    return shown.step


def test_the_step_its_rows_and_the_last_checkpoint_are_told(tmp_path):
    (tmp_path / "step-000000002.safetensors").touch()
    with pytest.raises(NonFiniteError) as raised:
        fit(tmp_path)
    told = str(raised.value)
    assert "gradient of step 3 is not finite" in told
    assert "the rows of 2." in told
    assert f"The last checkpoint is good: {tmp_path / 'step-000000002.safetensors'}" in told
    assert "--on-non-finite skip" in told


def test_no_checkpoint_yet(tmp_path):
    with pytest.raises(NonFiniteError, match="step 1 is .* No checkpoint was written"):
        fit(tmp_path, bad_row=0)


def test_a_loss_that_hides_nothing_in_its_gradient(tmp_path):
    def loss(y, outputs):
        bad = keras.ops.where(keras.ops.isnan(outputs), 0.0, outputs)
        return keras.ops.mean(bad, -1) + keras.ops.stop_gradient(keras.ops.mean(outputs, -1))

    with pytest.raises(NonFiniteError, match="of step 3 is not finite"):
        fit(tmp_path, loss=loss)


def test_a_gradient_that_the_loss_hides(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_EVERY_SECONDS", -1.0)

    def loss(y, outputs):  # the value is finite everywhere, the gradient is not
        return keras.ops.mean(keras.ops.sqrt(keras.ops.abs(outputs - outputs)), -1)

    with pytest.raises(NonFiniteError, match="gradient of step 1 is not finite"):
        fit(tmp_path, bad_row=19, loss=loss)


def test_steps_that_are_left_out_are_counted_and_said(tmp_path, capsys):
    assert fit(tmp_path, "skip", epochs=2) == 10
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("2 steps left out so far")
    assert [line.split("the last one was ")[1] for line in said] == [
        "step 3 with the rows of 2.",
        "step 8 with the rows of 7.",
    ]


def test_it_is_looked_at_once_a_second(tmp_path, monkeypatch):
    looks = []
    look = NonFiniteGuard.look

    def counted(self, loss_is_finite=True):
        looks.append(self._shown.step)
        look(self, loss_is_finite)

    monkeypatch.setattr(NonFiniteGuard, "look", counted)
    monkeypatch.setattr(module, "_LOOK_EVERY_SECONDS", 3600.0)
    monkeypatch.setattr("time.monotonic", lambda: 5000.0)
    with pytest.raises(NonFiniteError, match="step 5"):
        fit(tmp_path, bad_row=19)
    assert looks == [1, 5]
