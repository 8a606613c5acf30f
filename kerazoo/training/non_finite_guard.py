"""A Keras callback that stops a run whose loss is not finite, and says at which rows."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from kerazoo.optimizers.on_non_finite import STOP
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.counted import counted
from kerazoo.training.progress import Progress
from kerazoo.training.run_progress import RunProgress

_LOOK_EVERY_SECONDS = 1.0


class NonFiniteError(ValueError):
    """A loss or a gradient is not a finite number."""


class NonFiniteGuard(keras.callbacks.Callback):
    """Looks at what a `GuardedUpdate` has counted.

    The update itself has left weights and slots as they were, so nothing is lost if it is looked at
    once a second and before a checkpoint: reading the counter in every step would make the host
    wait for the device. The loss, of which Keras gives callbacks the mean in every step anyway, is
    looked at in each.

    Args:
        shown: counts the steps.
        progress: is told of steps that were left out.
        folder: where the checkpoints of the run lie.
        rows_of_batch: says which rows a batch has, by its number from 0.
    """

    def __init__(
        self,
        shown: RunProgress,
        progress: Progress,
        folder: Path,
        rows_of_batch: Callable[[int], str],
    ) -> None:
        """Nothing was seen yet."""
        super().__init__()
        self._shown = shown
        self._progress = progress
        self._folder = folder
        self._rows_of_batch = rows_of_batch
        self._looked = 0.0
        self._said = 0

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Stop if the loss is not finite; look at the counter once a second."""
        loss_is_finite = math.isfinite((logs or {}).get("loss", 0.0))
        if not loss_is_finite or time.monotonic() - self._looked > _LOOK_EVERY_SECONDS:
            self.look(loss_is_finite)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Look at the counter."""
        self.look()

    def look(self, loss_is_finite: bool = True) -> None:
        """Look at the counter.

        Args:
            loss_is_finite: bool, whether the mean loss is.

        Raises:
            NonFiniteError: if a step was left out, or its loss is not finite, unless such steps are
                to be skipped.
        """
        # On JAX the optimizer has its latest values only after the model was asked for.
        optimizer = self.model.optimizer
        count, step = (
            int(keras.ops.convert_to_numpy(variable))
            for variable in (optimizer.non_finite_steps, optimizer.non_finite_step)
        )
        self._looked = time.monotonic()
        if optimizer.on_non_finite == STOP:
            if count:
                raise NonFiniteError(self._told("gradient", step))
            if not loss_is_finite:
                raise NonFiniteError(self._told("loss", self._shown.step))
        elif count > self._said:
            self._said = count
            self._progress.say(
                f"{counted(count, 'step')} left out so far, as the gradient was not "
                f"finite; the last one was step {step} with {self._rows_of_batch(step - 1)}."
            )

    def _told(self, what: str, step: int) -> str:
        files = checkpoint_files(self._folder)
        last = "No checkpoint was written before it"
        if files:
            last = f"The last checkpoint is good: {files[-1]}"
        return (
            f"The {what} of step {step} is not finite (NaN or infinite). Its batch has "
            f"{self._rows_of_batch(step - 1)}. {last}. Look at these rows and the learning rate, "
            "or leave such steps out with --on-non-finite skip, which may be added to --resume."
        )
