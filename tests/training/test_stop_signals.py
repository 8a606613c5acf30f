import os
import signal
import threading

import pytest

from kerazoo.training.stop_signals import StopSignals, ended_by_signals


def send(number):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_is_kept_until_it_is_asked_for(number, error):
    before = signal.getsignal(number)
    with StopSignals() as signals:
        signals.stop()
        send(number)
        assert signals.received == number
        with pytest.raises(error) as raised:
            signals.stop()
    assert signal.getsignal(number) is before
    if error is SystemExit:
        assert raised.value.code == 143


def test_a_second_one_does_not_wait(monkeypatch):
    now = [50.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with StopSignals() as signals:
        send(signal.SIGTERM)
        now[0] += 1.5
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)
        assert signals.received == signal.SIGINT


def test_one_that_comes_twice_at_once_is_one():
    with StopSignals() as signals:
        send(signal.SIGTERM)
        send(signal.SIGTERM)
        assert signals.received == signal.SIGTERM


def test_other_threads_have_no_handlers():
    before = signal.getsignal(signal.SIGTERM)
    seen = []

    def enter():
        with StopSignals() as signals:
            seen.append((signals.received, signal.getsignal(signal.SIGTERM)))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [(None, before)]


def test_a_block_that_signals_end_gives_their_handlers_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with pytest.raises(KeyError), ended_by_signals():
        assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGINT) == signal.SIG_DFL
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as a library does
        raise KeyError("words")
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
