"""A Keras callback that counts the steps of a run, shows them as a bar and keeps a history."""

import time
from contextlib import ExitStack
from typing import Any

import keras

from kerazoo.training.progress import Progress


class StepProgress(keras.callbacks.Callback):
    """Show the steps of a whole run, over several calls of `fit`, and say each evaluation.

    Use it as a context manager around `fit`, so that an interrupted run leaves the terminal clean.

    Args:
        progress: where to show it.
        total_steps: int, steps of the run.
        tokens_per_step: float, real tokens of a batch on average.
        first_step: int, steps that were done before.
        history: what was said before.

    Attributes:
        step: int, the batches that were trained on.
        history: for each evaluation a dict of the step, losses and metrics, the seconds of training
            since the last one and the real tokens a second; the first step of each, in which the
            graph is compiled, does not count.
    """

    def __init__(
        self,
        progress: Progress,
        total_steps: int,
        tokens_per_step: float,
        first_step: int = 0,
        history: list[dict[str, Any]] | None = None,
    ) -> None:
        """Begin where the run is."""
        super().__init__()
        self.step = first_step
        self.history = list(history or [])
        self._progress = progress
        self._total_steps = total_steps
        self._tokens_per_step = tokens_per_step
        self._bar = ExitStack()
        self._timed_from = (0, 0.0)
        self._seconds: float | None = None

    def __enter__(self) -> "StepProgress":
        """Show the bar."""
        bar = self._progress.bar("pre-training", self._total_steps)
        self._advance = self._bar.enter_context(bar)
        self._advance(self.step, "")
        return self

    def __exit__(self, *reason: object) -> None:
        """Take the bar away, whatever happened."""
        self._bar.close()

    def begin(self, results: dict[str, Any]) -> None:
        """Keep and say what was measured before the first step."""
        self._keep(results, 0.0, None)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Wait for the first step, after which time counts."""
        self._seconds = None
        self._timed_from = (-1, 0.0)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Count a step and move the bar on."""
        self.step += 1
        if self._timed_from[0] < 0:
            self._timed_from = (self.step, time.perf_counter())
        if self._progress.shows_bars:
            self._advance(1, _listed(logs or {}))

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Stop the clock."""
        self._stop_clock()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keep and say the results."""
        self._stop_clock()
        self._keep(logs or {}, self._seconds or 0.0, self._tokens_per_second())

    def _keep(self, logs: dict[str, Any], seconds: float, speed: int | None) -> None:
        results = {name: float(value) for name, value in logs.items()}
        self.history.append(
            {
                "step": self.step,
                **results,
                "seconds": round(seconds, 2),
                "tokens_per_second": speed,
            }
        )
        said = f"step {self.step}/{self._total_steps}: {_listed(results)}"
        self._progress.say(said if speed is None else f"{said}, {speed:,} tokens/s")

    def _stop_clock(self) -> None:
        if self._seconds is None:
            self._seconds = time.perf_counter() - self._timed_from[1]

    def _tokens_per_second(self) -> int | None:
        """Return the speed of the steps that were timed; None if there was none."""
        steps = self.step - self._timed_from[0]
        if not steps or not self._seconds:
            return None
        return round(steps * self._tokens_per_step / self._seconds)


def _listed(logs: dict[str, Any]) -> str:
    """Return losses and metrics in one line."""
    return ", ".join(f"{name} {float(value):.4f}" for name, value in logs.items())
