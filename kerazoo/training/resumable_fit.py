"""The steps of a run that may be interrupted anywhere: go on where it was, fit, evaluate, save."""

from collections.abc import Callable, Sequence
from typing import Any

from kerazoo.training.checkpoint_writer import CheckpointWriter, RunPlan, restore_state
from kerazoo.training.fit_plan import fit_plan
from kerazoo.training.history_log import HistoryLog
from kerazoo.training.non_finite_guard import NonFiniteGuard
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.run_folder import HISTORY_FILE
from kerazoo.training.run_progress import RunProgress
from kerazoo.training.unfinished_run import UnfinishedRun

Fit = Callable[..., Any]
"""`fit(part, …)`: calls `fit` for a part of the run, from its first step on, with these options:
`steps_per_epoch`, `initial_epoch`, `epochs`, `callbacks` and `verbose`."""


def resumable_fit(
    task: Any,
    fit: Fit,
    run: UnfinishedRun,
    plan: RunPlan,
    show: Callable[[int, list[dict[str, Any]]], RunProgress],
    rows_of_batch: Callable[[int], str],
    callbacks: Sequence[Any] = (),
    progress: Progress = SILENT,
    begin: Callable[[RunProgress], None] = lambda shown: None,
) -> list[dict[str, Any]]:
    """Train a task until all steps are done.

    Args:
        task: the compiled task, whose optimizer is guarded; see `GuardedUpdate`.
        fit: see `Fit`. Each batch must be decided by its number alone.
        run: where the run is; its last checkpoint is gone on from.
        plan: when what happens.
        show: makes what shows the run, of the step and the history that it begins with.
        rows_of_batch: says which rows a batch has, by its number from 0.
        callbacks: further Keras callbacks.
        progress: is told where the run goes on, and of damaged checkpoints.
        begin: is called before the first step of a run that is not gone on with.

    Returns:
        The history; see `RunProgress`.

    Raises:
        KeyboardInterrupt: if Ctrl-C was pressed, when a checkpoint is written.
        NonFiniteError: if a loss or a gradient is not finite.
        OSError: if a checkpoint cannot be written.
        SystemExit: if SIGTERM came, when a checkpoint is written.
        ValueError: if all checkpoints are damaged, or they are of another run.
    """
    if not task.optimizer.built:
        task.optimizer.build(task.trainable_variables)
    checkpoint = run.last_checkpoint(progress.say)
    resumed, sums, step = None, [], 0
    if checkpoint is not None:
        resumed, sums = checkpoint.position, restore_state(task, checkpoint)
        step = resumed.step
        progress.say(f"Going on after step {step} of {plan.total_steps}.")
    shown = show(step, [] if resumed is None else resumed.history)
    log = HistoryLog(run.output / HISTORY_FILE, shown)
    guard = NonFiniteGuard(shown, progress, run.folder, rows_of_batch)
    with run.stop_signals() as signals, shown:
        if resumed is None:
            begin(shown)
        writer = CheckpointWriter(run, plan, shown, signals, resumed, sums, guard.look)
        for part in fit_plan(step, plan.total_steps, plan.evaluate_every):
            fit(
                part,
                steps_per_epoch=part.steps_per_epoch,
                initial_epoch=part.initial_epoch,
                epochs=part.epochs,
                callbacks=[shown, *callbacks, log, guard, writer],
                verbose=0,
            )
    return shown.history
