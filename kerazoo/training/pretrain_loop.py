"""The steps of a pre-training run: compile, go on where it was, fit, evaluate."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from kerazoo.data.data_service import DataService
from kerazoo.data.objectives import GPT
from kerazoo.data.row_source import RowSource
from kerazoo.data.shuffled_rows import rows_of_batch
from kerazoo.tasks.packed_rows import packed_rows
from kerazoo.tasks.shared_batches import SharedBatches
from kerazoo.training.checkpoint_writer import RunPlan
from kerazoo.training.dry_run import one_step
from kerazoo.training.fit_plan import FitPart
from kerazoo.training.optimizer import optimizer_of_run
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_inputs import PretrainInputs
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.resumable_fit import resumable_fit
from kerazoo.training.step_progress import StepProgress
from kerazoo.training.unfinished_run import UnfinishedRun


def train_steps(
    task: Any,
    rows: RowSource,
    measured: RowSource | None,
    run: UnfinishedRun,
    config: PretrainConfig,
    callbacks: Sequence[Any] = (),
    progress: Progress = SILENT,
    evaluate_first: bool = False,
    service: DataService | None = None,
) -> list[dict[str, Any]]:
    """Train a task until the steps of the config are done.

    Args:
        task: a task, not compiled yet.
        rows: what to train on.
        measured: whose held-out rows to evaluate on; None for no evaluation.
        run: where the run is; its last checkpoint is gone on from.
        config: the settings.
        callbacks: further Keras callbacks.
        progress: where to show how far the work is.
        evaluate_first: bool, evaluate before the first step too.
        service: prepares the batches to train on; None prepares them here.

    Returns:
        For each evaluation a dict of the step and what was measured; see `StepProgress`.

    Raises:
        Exception: see `resumable_fit`.
    """
    total = config.total_steps(rows.training_rows)
    _compile(task, total, config)
    inputs = _inputs(task, rows, config.bucket_width)
    size, seed = config.batch_size, config.seed
    validation = None
    if measured is not None:
        validation = _inputs(task, measured, config.bucket_width).validation_dataset(measured, size)

    def fit(part: FitPart, **options: Any) -> None:
        with service.failures_told() if service else nullcontext():
            what = (rows, size, seed, part.first_step, service)
            batches = SharedBatches(size, lambda own: inputs.training_dataset(*what, own))
            task.fit(batches, validation_data=validation, **options)

    def evaluate(shown: Any) -> None:
        if evaluate_first and validation is not None:
            before = task.evaluate(validation, return_dict=True, verbose=0)
            shown.begin({f"val_{name}": value for name, value in before.items()})

    every = (config.evaluate_every, config.checkpoint_every, config.keep_checkpoints)
    with packed_rows(task, rows.row_format.is_packed), task.without_preprocessor():
        return resumable_fit(
            task,
            fit,
            run,
            RunPlan(total, *every),
            lambda step, said: StepProgress(progress, total, rows.mean_tokens * size, step, said),
            lambda number: ", ".join(rows_of_batch(rows, size, seed, number, inputs.buckets)),
            callbacks,
            progress,
            evaluate,
        )


def dry_steps(
    task: Any,
    rows: RowSource,
    measured: RowSource | None,
    config: PretrainConfig,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Compile the step with XLA, train on one batch and measure another one.

    Args:
        task: see `train_steps`; it is of no use afterwards.
        rows: see `train_steps`.
        measured: see `train_steps`.
        config: see `train_steps`.
        progress: is told what came of it.

    Returns:
        See `one_step`.
    """
    _compile(task, config.total_steps(rows.training_rows), config, jit_compile=True)
    size = config.batch_size
    width = config.bucket_width
    dataset = _inputs(task, rows, width).training_dataset(rows, size, config.seed)
    validation = None
    if measured is not None:
        validation = _inputs(task, measured, width).validation_dataset(measured, size)

    def fit(**options: Any) -> None:
        if validation is None:
            options.pop("validation_steps")
        task.fit(dataset, validation_data=validation, **options)

    with packed_rows(task, rows.row_format.is_packed), task.without_preprocessor():
        return one_step(fit, progress)


def _compile(task: Any, total_steps: int, config: PretrainConfig, **options: Any) -> None:
    """Give a task its loss and an optimizer."""
    task.compile(optimizer_of_run(config, config.learning_rate, total_steps), **options)


def _inputs(task: Any, rows: RowSource, bucket_width: int | None = None) -> PretrainInputs:
    """Return what makes the task's inputs of rows."""
    draws_masks = rows.row_format.objective != GPT and not rows.row_format.mask_slots
    masker = task.preprocessor.masker if draws_masks else None
    return PretrainInputs(rows.row_format, tuple(task.input), masker, bucket_width)
