"""What shows how far a run is: steps as a bar, a line for each evaluation, and a history."""

import time
from contextlib import ExitStack
from typing import Any, Self

import keras

from kerazoo.training.data_wait import DataWait
from kerazoo.training.progress import Advance, Progress


class RunProgress(keras.callbacks.Callback):
    """Counts the steps of a run over several calls of `fit`, and keeps a history.

    Use it as a context manager around `fit`, so that an interrupted run leaves the terminal clean.
    Time counts from the end of the first step of a stretch between two evaluations, as that step
    compiles and starts reading.

    Args:
        progress: where to show it.
        first_step: int, steps that were done before.
        history: what was said before.

    Attributes:
        step: int, the batches that were trained on.
        history: for each evaluation a dict of what was measured.
    """

    def __init__(
        self,
        progress: Progress,
        first_step: int = 0,
        history: list[dict[str, Any]] | None = None,
    ) -> None:
        """Begin where the run is."""
        super().__init__()
        self.step = first_step
        self.history = list(history or [])
        self._progress = progress
        self._bar = ExitStack()
        self._advance: Advance = lambda steps, said: None
        self._wait = DataWait()
        self._timed_from = (-1, 0.0, 0.0)
        self._seconds: float | None = None

    def __enter__(self) -> Self:
        """Begin to show."""
        return self

    def __exit__(self, *reason: object) -> None:
        """Take the bar away, whatever happened."""
        self._bar.close()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Measure how long `fit` waits for data."""
        self._wait.watch(self.model)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Wait for the first step, after which time counts."""
        self._seconds = None
        self._timed_from = (-1, 0.0, 0.0)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Count a step and move the bar on."""
        self.step += 1
        if self._timed_from[0] < 0:
            self._timed_from = (self.step, time.perf_counter(), self._wait.seconds)
        if self._progress.shows_bars:
            self._advance(1, ", ".join([listed(logs or {}), *self._waiting()]))

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Stop the clock."""
        self._stop_clock()

    def _stop_clock(self) -> None:
        if self._seconds is None:
            self._seconds = time.perf_counter() - self._timed_from[1]

    def _timed_steps(self) -> int:
        """Return the steps of the stretch that time counts for."""
        return self.step - self._timed_from[0]

    def _waiting_share(self) -> float | None:
        """Return the share of the time that was spent waiting for data; None if unknown."""
        if not self._wait.is_measured or not self._timed_steps():
            return None
        seconds = self._seconds
        if seconds is None:
            seconds = time.perf_counter() - self._timed_from[1]
        return round((self._wait.seconds - self._timed_from[2]) / seconds, 4)

    def _waiting(self) -> list[str]:
        """Return what is said of it, if it is known."""
        share = self._waiting_share()
        return [] if share is None else [f"{share:.0%} waiting for data"]


def listed(logs: dict[str, Any]) -> str:
    """Return losses and metrics in one line."""
    return ", ".join(f"{name} {float(value):.4f}" for name, value in logs.items())
