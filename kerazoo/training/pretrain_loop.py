"""The steps of a pre-training run: compile, go on where it was, fit, evaluate."""

from collections.abc import Sequence
from typing import Any

from kerazoo.data.objectives import GPT
from kerazoo.data.row_source import RowSource
from kerazoo.training.checkpoint import read_checkpoint
from kerazoo.training.checkpoint_writer import CheckpointWriter, restore_state
from kerazoo.training.fit_plan import fit_plan
from kerazoo.training.optimizer import create_optimizer
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_inputs import PretrainInputs
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.schedule import WarmupLinearDecay
from kerazoo.training.step_progress import StepProgress
from kerazoo.training.stop_signals import StopSignals
from kerazoo.training.unfinished_run import UnfinishedRun


def train_steps(
    task: Any,
    rows: RowSource,
    measured: RowSource | None,
    folder: UnfinishedRun,
    config: PretrainConfig,
    callbacks: Sequence[Any] = (),
    progress: Progress = SILENT,
    evaluate_first: bool = False,
) -> list[dict[str, Any]]:
    """Train a task until the steps of the config are done.

    Args:
        task: a task, not compiled yet.
        rows: what to train on.
        measured: whose held-out rows to evaluate on; None for no evaluation.
        folder: where the run is; its last checkpoint is gone on from.
        config: the settings.
        callbacks: further Keras callbacks.
        progress: where to show how far the work is.
        evaluate_first: bool, evaluate before the first step too.

    Returns:
        For each evaluation a dict of the step and what was measured; see `StepProgress`.

    Raises:
        KeyboardInterrupt: if Ctrl-C was pressed, when a checkpoint is written.
        OSError: if a checkpoint cannot be written.
        SystemExit: if SIGTERM came, when a checkpoint is written.
        ValueError: if the last checkpoint is damaged.
    """
    total = config.total_steps(rows.training_rows)
    _compile(task, total, config)
    inputs = _inputs(task, rows)
    checkpoint = read_checkpoint(folder.folder)
    step: int = 0
    history: list[dict[str, Any]] = []
    if checkpoint is not None:
        restore_state(task, checkpoint)
        step, history = checkpoint.step, checkpoint.history
        progress.say(f"Going on after step {step} of {total}.")
    tokens = rows.mean_tokens * config.batch_size
    shown = StepProgress(progress, total, tokens, step, history)
    validation = None
    if measured is not None:
        validation = _inputs(task, measured).validation_dataset(measured, config.batch_size)
    with StopSignals() as signals, shown, task.without_preprocessor():
        if evaluate_first and checkpoint is None and validation is not None:
            before = task.evaluate(validation, return_dict=True, verbose=0)
            shown.begin({f"val_{name}": value for name, value in before.items()})
        writer = CheckpointWriter(folder.folder, config, total, shown, signals, checkpoint)
        for part in fit_plan(step, total, config.evaluate_every):
            task.fit(
                inputs.training_dataset(rows, config.batch_size, config.seed, part.first_step),
                steps_per_epoch=part.steps_per_epoch,
                initial_epoch=part.initial_epoch,
                epochs=part.epochs,
                validation_data=validation,
                callbacks=[shown, *callbacks, writer],
                verbose=0,
            )
    return shown.history


def _compile(task: Any, total_steps: int, config: PretrainConfig) -> None:
    """Give a task its loss and an optimizer with all of its variables."""
    warmup = config.warmup_steps(total_steps)
    schedule = WarmupLinearDecay(config.learning_rate, warmup, total_steps)
    task.compile(create_optimizer(schedule, config.weight_decay, config.clip_norm))
    task.optimizer.build(task.trainable_variables)


def _inputs(task: Any, rows: RowSource) -> PretrainInputs:
    """Return what makes the task's inputs of rows."""
    draws_masks = rows.row_format.objective != GPT and not rows.row_format.mask_slots
    masker = task.preprocessor.masker if draws_masks else None
    return PretrainInputs(rows.row_format, tuple(task.input), masker)
