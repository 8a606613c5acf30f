"""A Keras callback that appends what is known of a run to a file of JSON lines, while it runs."""

import json
import os
from pathlib import Path
from typing import Any

import keras

from kerazoo.training.plain_json import plain_json
from kerazoo.training.run_progress import RunProgress

LOG_EVERY = 100
"""Steps between two lines on training alone."""


class HistoryLog(keras.callbacks.Callback):
    """Append a line every `LOG_EVERY` steps and at each evaluation.

    A line on training has the step and the means since the last evaluation; one on an evaluation
    what `RunProgress.history` has of it. Lines are written whole, and on the disk after each
    evaluation. It comes after `shown` in the list of callbacks.

    Args:
        file: the file; what an interrupted run wrote of steps that come again is removed.
        shown: counts the steps.
    """

    def __init__(self, file: Path, shown: RunProgress) -> None:
        """Read what there is."""
        super().__init__()
        self._file = file
        self._shown = shown
        self._logged = len(shown.history)
        _keep_until(file, shown.step)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Append what was measured before the first step, as a later start would not."""
        self._append_new()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Append a line if it is time to."""
        if self._shown.step % LOG_EVERY == 0:
            self._append([{"step": self._shown.step, **(logs or {})}])

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Append what was measured."""
        self._append_new()

    def _append_new(self) -> None:
        new = self._shown.history[self._logged :]
        self._logged += len(new)
        if new:
            self._append(new, flush=True)

    def _append(self, entries: list[dict[str, Any]], flush: bool = False) -> None:
        text = "".join(plain_json(entry) + "\n" for entry in entries)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if flush:
                os.fsync(file.fileno())


def _keep_until(file: Path, step: int) -> None:
    """Leave the whole lines of a file up to a step, none at step 0; the last line may be torn."""
    if not file.is_file():
        return
    kept = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            is_kept = json.loads(line)["step"] <= step and step > 0
        except (ValueError, KeyError, TypeError):
            continue
        if is_kept:
            kept.append(line + "\n")
    temporary = file.with_name(f".{file.name}.part")
    temporary.write_text("".join(kept), encoding="utf-8")
    os.replace(temporary, file)
