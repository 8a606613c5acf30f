import keras
import numpy as np
import pytest

from kerazoo.training.fit_progress import FitProgress
from kerazoo.training.progress import SILENT, Progress


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def fit(model, callback):
    x, y = np.ones((8, 5)), np.ones((8, 3))
    with callback:
        return model.fit(
            x, y, batch_size=4, epochs=2, validation_data=(x, y), callbacks=[callback], verbose=0
        )


def test_an_epoch_is_a_line(model, capsys):
    fit(model, FitProgress(Progress(), 2, 2))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2/2: loss ")
    assert ", val_mae " in lines[1]
    assert " s, " in lines[1]
    assert lines[1].endswith("% waiting for data")


def test_the_results_are_kept(model, capsys):
    callback = FitProgress(SILENT, 2, 2)
    history = fit(model, callback).history
    assert [(epoch["epoch"], epoch["step"]) for epoch in callback.history] == [(1, 2), (2, 4)]
    assert [epoch["val_loss"] for epoch in callback.history] == history["val_loss"]
    assert all(epoch["seconds"] >= 0 for epoch in callback.history)
    assert all(0 < epoch["waiting_share"] <= 1 for epoch in callback.history)
    assert capsys.readouterr().err == ""


class Bars(Progress):
    """Notes which bars are open."""

    def __init__(self):
        super().__init__(quiet=True)
        self.shows_bars = True
        self.events = []

    def bar(self, words, total=None):
        events = self.events

        class Bar:
            def __enter__(self):
                events.append((words, total))
                return lambda units, behind: events.append(units)

            def __exit__(self, *reason):
                events.append("closed")

        return Bar()


def test_an_epoch_is_a_bar(model):
    bars = Bars()
    fit(model, FitProgress(bars, 2, 2))
    assert bars.events == [("epoch 1/2", 2), 1, 1, "closed", ("epoch 2/2", 2), 1, 1, "closed"]


def test_an_epoch_goes_on_where_it_was(model):
    bars = Bars()
    before = [{"epoch": 1}]
    with FitProgress(bars, 5, 3, first_step=8, history=before) as shown:
        x, y = np.ones((8, 5)), np.ones((8, 3))
        options = {"initial_epoch": 1, "epochs": 2, "callbacks": [shown], "verbose": 0}
        model.fit(x, y, batch_size=4, **options)
    assert bars.events == [("epoch 2/3", 5), 3, 1, 1, "closed"]
    assert [(epoch["epoch"], epoch.get("step")) for epoch in shown.history] == [(1, None), (2, 10)]


def test_an_interrupted_run_takes_the_bar_away(model):
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    bars = Bars()
    with pytest.raises(KeyboardInterrupt), FitProgress(bars, 2, 2) as callback:
        model.fit(np.ones((8, 5)), np.ones((8, 3)), callbacks=[callback, Interrupt()], verbose=0)
    assert bars.events[-1] == "closed"
