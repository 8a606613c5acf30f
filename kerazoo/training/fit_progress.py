"""A Keras callback that shows training as a bar an epoch and leaves a line an epoch."""

import time
from typing import Any

from kerazoo.training.progress import Progress
from kerazoo.training.run_progress import RunProgress, listed


class FitProgress(RunProgress):
    """Show steps as a bar and say each epoch's losses and metrics; see `RunProgress`.

    Args:
        progress: where to show it.
        steps_per_epoch: int.
        epochs: int, of the whole run.
        first_step: int, steps that were done before.
        history: what was said before.

    Attributes:
        history: for each epoch a dict of its number, the step after it, its losses and metrics, its
            seconds, and the share of the time that was spent waiting for data.
    """

    def __init__(
        self,
        progress: Progress,
        steps_per_epoch: int,
        epochs: int,
        first_step: int = 0,
        history: list[dict[str, Any]] | None = None,
    ) -> None:
        """Begin where the run is."""
        super().__init__(progress, first_step, history)
        self._steps_per_epoch = steps_per_epoch
        self._epochs = epochs
        self._began = 0.0

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Show a new bar."""
        super().on_epoch_begin(epoch, logs)
        self._began = time.perf_counter()
        bar = self._progress.bar(f"epoch {epoch + 1}/{self._epochs}", self._steps_per_epoch)
        self._advance = self._bar.enter_context(bar)
        if done := self.step % self._steps_per_epoch:
            self._advance(done, "")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Take the bar away and say the results."""
        self._bar.close()
        self._stop_clock()
        seconds = time.perf_counter() - self._began
        results = {name: float(value) for name, value in (logs or {}).items()}
        self.history.append(
            {
                "epoch": epoch + 1,
                "step": self.step,
                **results,
                "seconds": round(seconds, 2),
                "waiting_share": self._waiting_share(),
            }
        )
        said = ", ".join([listed(results), f"{seconds:.1f} s", *self._waiting()])
        self._progress.say(f"epoch {epoch + 1}/{self._epochs}: {said}")
