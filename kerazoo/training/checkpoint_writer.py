"""A Keras callback that writes checkpoints, and stops the run cleanly when it is asked to."""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from kerazoo.tasks.replicas import add_to_replicas, sums_of_replicas
from kerazoo.training.checkpoint import Checkpoint, Position, write_checkpoint
from kerazoo.training.checkpoint_file import NamedArray
from kerazoo.training.run_progress import RunProgress
from kerazoo.training.stop_signals import StopSignals
from kerazoo.training.unfinished_run import UnfinishedRun

_SCORE = "val_loss"


@dataclasses.dataclass(frozen=True)
class RunPlan:
    """When what happens in a run.

    Args:
        total_steps: int, steps of the run; an evaluation follows the last one.
        evaluate_every: int, steps between two evaluations.
        checkpoint_every: int, steps between two checkpoints, of which the last step has one too; 0
            writes none but at a signal.
        keep_checkpoints: int, so many of the last ones stay, and the best.
    """

    total_steps: int
    evaluate_every: int
    checkpoint_every: int
    keep_checkpoints: int


def restore_state(model: keras.Model, checkpoint: Checkpoint) -> list[np.ndarray]:
    """Give a compiled model the state of a checkpoint.

    Returns:
        The sums of metrics, of each replica, which follow after a step.

    Raises:
        ValueError: if the checkpoint is one of another model.
    """
    return checkpoint.restore(_lasting_variables(model))


class CheckpointWriter(keras.callbacks.Callback):
    """Write the state every so many steps, at the best evaluation, at the end, and at a signal.

    After the last step before an evaluation it waits until that is done, so that no evaluation is
    missing after a restart. It comes last in the list of callbacks.

    Args:
        run: where to write.
        plan: says how often to write and to evaluate.
        shown: counts the steps.
        signals: says whether to stop.
        resumed: how far the run was when it was gone on with; None if it begins.
        sums: the sums of metrics then, of each replica.
        check: is called before a checkpoint is written, and raises if none may be.
    """

    def __init__(
        self,
        run: UnfinishedRun,
        plan: RunPlan,
        shown: RunProgress,
        signals: StopSignals,
        resumed: Position | None = None,
        sums: list[np.ndarray] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep the arguments."""
        super().__init__()
        self._run = run
        self._plan = plan
        self._shown = shown
        self._signals = signals
        self._check = check
        self._best = None if resumed is None else resumed.best
        is_between = resumed is not None and resumed.step % plan.evaluate_every
        self._sums = sums if is_between else None

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Write if it is time to, unless an evaluation follows."""
        self._go_on_with_sums()
        step = self._shown.step
        if step % self._plan.evaluate_every and step != self._plan.total_steps:
            self._write_if_due()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Write if it is time to, or this was the best evaluation so far."""
        score = (logs or {}).get(_SCORE, np.inf)
        is_best = score < (np.inf if self._best is None else self._best[_SCORE])
        if is_best:
            self._best = {"step": self._shown.step, _SCORE: float(score)}
        self._write_if_due(is_best)

    def _go_on_with_sums(self) -> None:
        """Add the sums of metrics of before a restart between two evaluations, once.

        Metrics begin at zero and may have no variables before the first step.
        """
        sums, self._sums = self._sums, None
        if sums is not None:
            add_to_replicas(self.model, sums)

    def _write_if_due(self, is_best: bool = False) -> None:
        step = self._shown.step
        every = self._plan.checkpoint_every
        # To measure and to write the model, which follow the last step, may be interrupted too.
        is_last = step == self._plan.total_steps
        is_due = every > 0 and (is_best or is_last or step % every == 0)
        has_to_stop = self._signals.are_due(step)
        if not is_due and not has_to_stop:
            return
        self._check()
        # Keras gives the model with its latest weights only when it is asked for.
        model = self.model
        lasting = _lasting_variables(model)
        self._run.make_folder()
        position = Position(step, self._shown.history, self._best, self._run.description)
        named = zip(model.metrics_variables, sums_of_replicas(model), strict=True)
        write_checkpoint(
            self._run.folder,
            position,
            [*lasting, *(NamedArray(variable.path, sums) for variable, sums in named)],
            self._plan.keep_checkpoints,
            finite=len(lasting),
        )
        if has_to_stop:
            self._signals.stop()


def _lasting_variables(model: keras.Model) -> list[keras.Variable]:
    """Return weights, states of random numbers, and the optimizer's variables."""
    return [*model.variables, *model.optimizer.variables]
