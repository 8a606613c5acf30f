import json
import types

import pytest

from kerazoo.training import history_log as module
from kerazoo.training.history_log import HistoryLog


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOG_EVERY", 3)
    return tmp_path / "history.jsonl"


def run(file, first, last, history=()):
    """What `fit` does, with an evaluation every five steps."""
    shown = types.SimpleNamespace(step=first, history=list(history))
    log = HistoryLog(file, shown)
    for step in range(first + 1, last + 1):
        shown.step = step
        log.on_train_batch_end(0, {"loss": float(step)})
        if step % 5 == 0:
            shown.history.append({"step": step, "val_loss": 0.5})
            log.on_epoch_end(0, {})
    return shown.history


def entries(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_lines_on_training_and_on_evaluations(file):
    run(file, 0, 7)
    assert entries(file) == [
        {"step": 3, "loss": 3.0},
        {"step": 5, "val_loss": 0.5},
        {"step": 6, "loss": 6.0},
    ]


@pytest.mark.parametrize("torn", ["", '{"step": 7, "lo', "\n", '["a"]\n', '{"loss": 3}\n'])
def test_steps_that_come_again_stand_there_once(file, torn):
    history = run(file, 0, 7)
    with file.open("a") as opened:
        opened.write(torn)
    run(file, 5, 12, history)
    assert [entry["step"] for entry in entries(file)] == [3, 5, 6, 9, 10, 12]


def test_a_number_that_is_not_finite(file):
    shown = types.SimpleNamespace(step=3, history=[])
    HistoryLog(file, shown).on_train_batch_end(0, {"loss": float("nan")})
    assert entries(file) == [{"step": 3, "loss": None}]


def test_what_was_measured_before_the_first_step_stands_before_the_others(file):
    shown = types.SimpleNamespace(step=0, history=[])
    log = HistoryLog(file, shown)
    shown.history.append({"step": 0, "val_loss": 2.0})
    log.on_train_begin()
    assert [entry["step"] for entry in entries(file)] == [0]
    shown.step = 3
    log.on_train_batch_end(0, {"loss": 1.5})
    log.on_train_begin()  # the next call of `fit`
    assert [entry["step"] for entry in entries(file)] == [0, 3]


def test_a_run_that_begins_anew_keeps_no_line(file):
    """One that was killed before its first checkpoint leaves lines of steps that come again."""
    file.write_text('{"step": 0, "val_loss": 2.0}\n{"step": 3, "loss": 1.5}\n')
    shown = types.SimpleNamespace(step=0, history=[])
    log = HistoryLog(file, shown)
    shown.history.append({"step": 0, "val_loss": 2.0})
    log.on_train_begin()
    assert [entry["step"] for entry in entries(file)] == [0]
