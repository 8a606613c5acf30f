"""A Keras callback that writes checkpoints, and stops the run cleanly when it is asked to."""

from pathlib import Path
from typing import Any

import keras

from kerazoo.training.checkpoint import Checkpoint, write_checkpoint
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.step_progress import StepProgress
from kerazoo.training.stop_signals import StopSignals


def restore_state(model: keras.Model, checkpoint: Checkpoint) -> None:
    """Give a compiled model the state of a checkpoint; the sums of metrics follow after a step.

    Raises:
        ValueError: if the checkpoint is one of another model.
    """
    checkpoint.restore(_lasting_variables(model))


class CheckpointWriter(keras.callbacks.Callback):
    """Write the state of a run every so many steps and when a signal asks to stop.

    After the last step before an evaluation it waits until that is done, so that no evaluation is
    missing after a restart. It comes after `progress` in the list of callbacks.

    Args:
        folder: where to write.
        config: says how often to write and to evaluate.
        total_steps: int, steps of the run.
        progress: counts the steps.
        signals: says whether to stop.
        resumed: the checkpoint that the run goes on from; None if it begins.
    """

    def __init__(
        self,
        folder: Path,
        config: PretrainConfig,
        total_steps: int,
        progress: StepProgress,
        signals: StopSignals,
        resumed: Checkpoint | None = None,
    ) -> None:
        """Keep the arguments."""
        super().__init__()
        self._folder = folder
        self._config = config
        self._total_steps = total_steps
        self._progress = progress
        self._signals = signals
        self._resumed = resumed

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Write if it is time to, unless an evaluation follows."""
        self._go_on_with_sums()
        step = self._progress.step
        if step % self._config.evaluate_every and step != self._total_steps:
            self._write_if_due()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Write if it is time to, after an evaluation."""
        self._write_if_due()

    def _go_on_with_sums(self) -> None:
        """Add the sums of metrics of before a restart between two evaluations, once.

        Metrics begin at zero and may have no variables before the first step.
        """
        checkpoint, self._resumed = self._resumed, None
        if checkpoint is not None and checkpoint.step % self._config.evaluate_every:
            model = self.model
            first = len(_lasting_variables(model))
            for variable, before in zip(
                model.metrics_variables, checkpoint.values[first:], strict=True
            ):
                variable.assign_add(before)

    def _write_if_due(self) -> None:
        step = self._progress.step
        every = self._config.checkpoint_every
        is_due = every > 0 and step % every == 0
        if not is_due and self._signals.received is None:
            return
        # Keras gives the model with its latest weights only when it is asked for.
        model = self.model
        variables = [*_lasting_variables(model), *model.metrics_variables]
        write_checkpoint(self._folder, step, variables, self._progress.history)
        self._signals.stop()


def _lasting_variables(model: keras.Model) -> list[keras.Variable]:
    """Return weights, states of random numbers, and the optimizer's variables."""
    return [*model.variables, *model.optimizer.variables]
