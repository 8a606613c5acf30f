"""Signals that ask a run to stop, kept until it is at a place where nothing is lost."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SAME_SECONDS = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT end the process at once while the block runs.

    A handler of Python runs between two of its instructions: not while a library waits. One that
    a library sets in the block is replaced by that of before, which knows how a run ends.
    Outside the main thread, where Python allows no handlers, signals stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, signal.SIG_DFL) for each in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class StopSignals:
    """Notes SIGTERM and SIGINT while the block runs, where they would end the process at once.

    A second one is not waited for, unless it comes within a second: `timeout` and schedulers send
    it to a process and to its group, so it comes twice. Outside the main thread, where Python
    allows no handlers, nothing is noted.

    Attributes:
        received: int, the signal; None if there was none.
    """

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.received: int | None = None
        self._since = 0.0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopSignals":
        """Begin to note signals."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *reason: object) -> None:
        """Leave signals to those who had them before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def are_due(self, step: int) -> bool:
        """Return whether the run has to stop after a step.

        Args:
            step: int, the steps that were done; each is asked for once.
        """
        return self.received is not None

    def stop(self) -> None:
        """Raise what the signal that was received means; do nothing if there was none.

        Raises:
            KeyboardInterrupt: for SIGINT.
            SystemExit: for SIGTERM, with the exit code of a process that it ended.
        """
        if self.received == signal.SIGINT:
            raise KeyboardInterrupt
        if self.received is not None:
            raise SystemExit(128 + self.received)

    def _note(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        again = self.received is not None and now - self._since > _SAME_SECONDS
        if self.received is None:
            self._since = now
        self.received = number
        if again:
            self.stop()
