import types

import pytest

from kerazoo.training.progress import Progress
from kerazoo.training.run_progress import RunProgress, listed


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by a second with every look at it."""
    seconds = iter(range(1000))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))


class Bars(Progress):
    def __init__(self):
        super().__init__(quiet=True)
        self.shows_bars = True


def test_waiting_is_said_while_steps_go_on(clock):
    said = []
    shown = RunProgress(Bars())
    shown._advance = lambda units, behind: said.append(behind)
    shown._wait = types.SimpleNamespace(is_measured=True, seconds=5.0)
    shown.on_epoch_begin(0)
    shown.on_train_batch_end(0, {"loss": 2.0})
    shown._wait.seconds += 0.25
    shown.on_train_batch_end(1, {"loss": 1.0})
    assert said == ["loss 2.0000", "loss 1.0000, 25% waiting for data"]
    assert shown.step == 2


def test_unknown_waiting_is_not_said(clock):
    shown = RunProgress(Bars())
    shown._advance = lambda units, behind: None
    for batch in range(3):
        shown.on_train_batch_end(batch, {})
    assert shown._waiting() == []


def test_a_history_goes_on_in_a_list_of_its_own():
    before = [{"step": 4}]
    shown = RunProgress(Progress(quiet=True), 4, before)
    shown.history.append({"step": 5})
    assert before == [{"step": 4}]
    assert shown.step == 4


def test_logs_in_a_line():
    assert listed({"loss": 1, "accuracy": 0.25}) == "loss 1.0000, accuracy 0.2500"
