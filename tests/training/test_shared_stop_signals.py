import json
import signal

import pytest
from meetings import meetings_of, results_of

from kerazoo.training import shared_stop_signals as module
from kerazoo.training.shared_stop_signals import SharedStopSignals


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self):
        self.now = 50.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def run_of(count, last_step, act=lambda process, step, signals: None):
    """When each of several processes stops, with which signal, and after which steps all look."""
    meetings, looks = meetings_of(count), [[] for _ in range(count)]

    def train(process):
        def exchange(words):
            looks[process].append(step)
            return meetings[process].exchange(words)

        signals = SharedStopSignals(exchange)
        for step in range(1, last_step + 1):
            act(process, step, signals)
            if signals.are_due(step):
                return step, signals.received
        return None

    return results_of(*(lambda n=n: train(n) for n in range(count))), looks


@pytest.mark.parametrize("process", [0, 2])
def test_a_signal_to_one_stops_all_after_the_same_step(clock, process):
    def act(number, step, signals):
        clock.now += 0.2
        if (number, step) == (process, 13):
            signals.received = signal.SIGTERM

    stopped, looks = run_of(3, 40, act)
    step = stopped[0][0]
    assert 13 <= step <= 20
    assert stopped == [(step, signal.SIGTERM)] * 3
    assert looks[0] == looks[1] == looks[2]


def test_the_first_ones_is_everybodys(clock):
    def act(number, step, signals):
        signals.received = [None, signal.SIGINT, signal.SIGTERM][number]

    assert run_of(3, 5, act)[0] == [(1, signal.SIGINT)] * 3


def test_without_a_signal_nobody_stops(clock):
    assert run_of(2, 4)[0] == [None, None]


def test_they_look_about_once_a_second(clock):
    def act(number, step, signals):
        clock.now += 0.125 * (number == 0)

    # The steps take an eighth of a second by the clock of all.
    _, (first, second) = run_of(2, 40, act)
    assert first == second
    assert first[0] == 1
    assert 3 <= len(first) <= 12
    assert max(later - before for before, later in zip(first, first[1:], strict=False)) <= 16


def test_the_first_process_chooses_the_next_step(clock):
    told = []

    def exchange(words):
        told.append(json.loads(words))
        return [json.dumps([None, 7]), words]

    signals = SharedStopSignals(exchange)
    clock.now += 0.25
    assert [signals.are_due(step) for step in range(1, 8)] == [False] * 7
    assert [words[0] for words in told] == [None, None]
    assert told[0] == [None, 5]  # four steps a second
    assert len(told) == 2


def test_a_signal_that_comes_while_they_tell_each_other_is_kept(clock):
    def exchange(words):
        signals.received = signal.SIGTERM
        return [words]

    signals, due = SharedStopSignals(exchange), []
    for step in range(1, 4):
        clock.now += 1.0
        due.append(signals.are_due(step))
    assert due == [False, True, True]
    assert signals.received == signal.SIGTERM
