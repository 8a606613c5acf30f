"""A Keras callback that shows training as a bar an epoch and leaves a line an epoch."""

import time
from contextlib import ExitStack
from typing import Any

import keras

from kerazoo.training.progress import Progress


class FitProgress(keras.callbacks.Callback):
    """Show steps as a bar and say each epoch's losses and metrics.

    Use it as a context manager around `fit`, so that an interrupted run leaves the terminal clean.

    Args:
        progress: where to show it.

    Attributes:
        epochs: for each epoch a dict of its number, its losses and metrics, and its seconds.
    """

    def __init__(self, progress: Progress) -> None:
        """Remember where to show the progress."""
        super().__init__()
        self.progress = progress
        self.epochs: list[dict[str, Any]] = []
        self._bar = ExitStack()
        self._began = 0.0

    def __enter__(self) -> "FitProgress":
        """Begin."""
        return self

    def __exit__(self, *reason: object) -> None:
        """Take the bar away, whatever happened."""
        self._bar.close()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Show a new bar."""
        self._began = time.perf_counter()
        words = f"epoch {epoch + 1}/{self.params['epochs']}"
        self._advance = self._bar.enter_context(self.progress.bar(words, self.params["steps"]))

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Move the bar on."""
        if self.progress.shows_bars:
            self._advance(1, _listed(logs or {}))

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Take the bar away and say the results."""
        self._bar.close()
        seconds = time.perf_counter() - self._began
        results = {name: float(value) for name, value in (logs or {}).items()}
        self.epochs.append({"epoch": epoch + 1, **results, "seconds": round(seconds, 2)})
        self.progress.say(
            f"epoch {epoch + 1}/{self.params['epochs']}: {_listed(results)}, {seconds:.1f} s"
        )


def _listed(logs: dict[str, Any]) -> str:
    """Return losses and metrics in one line."""
    return ", ".join(f"{name} {float(value):.4f}" for name, value in logs.items())
