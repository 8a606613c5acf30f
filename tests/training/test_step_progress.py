import pytest

from kerazoo.training.progress import Progress
from kerazoo.training.step_progress import StepProgress


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a second with every look at it."""
    seconds = iter(range(1000))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))


def run_stretch(shown, steps, epoch):
    shown.on_epoch_begin(epoch)
    for batch in range(steps):
        shown.on_train_batch_end(batch, {"loss": 2.0})
    shown.on_test_begin()
    shown.on_epoch_end(epoch, {"loss": 2.0, "val_loss": 1.5})


def test_steps_are_counted_and_evaluations_kept(capsys, clock):
    with StepProgress(Progress(), 10, tokens_per_step=50.0, first_step=3) as shown:
        shown.begin({"val_loss": 4})
        run_stretch(shown, 4, epoch=0)
        run_stretch(shown, 3, epoch=1)
    assert shown.step == 10
    assert [entry["step"] for entry in shown.history] == [3, 7, 10]
    assert shown.history[0] == {
        "step": 3,
        "val_loss": 4.0,
        "seconds": 0.0,
        "tokens_per_second": None,
        "waiting_share": None,
    }
    # The clock is looked at after the first step and at the end: three steps in a second.
    assert shown.history[1]["seconds"] == 1.0
    assert shown.history[1]["tokens_per_second"] == 150
    assert shown.history[2]["tokens_per_second"] == 100
    assert capsys.readouterr().err.splitlines() == [
        "step 3/10: val_loss 4.0000",
        "step 7/10: loss 2.0000, val_loss 1.5000, 150 tokens/s",
        "step 10/10: loss 2.0000, val_loss 1.5000, 100 tokens/s",
    ]


def test_one_step_has_no_speed():
    with StepProgress(Progress(quiet=True), 1, tokens_per_step=50.0) as shown:
        run_stretch(shown, 1, epoch=0)
    assert shown.history[0]["tokens_per_second"] is None


def test_history_goes_on():
    before = [{"step": 3, "val_loss": 4.0}]
    with StepProgress(Progress(quiet=True), 5, 50.0, first_step=3, history=before) as shown:
        run_stretch(shown, 2, epoch=1)
    assert [entry["step"] for entry in shown.history] == [3, 5]
    assert len(before) == 1
