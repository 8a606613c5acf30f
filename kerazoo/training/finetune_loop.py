"""The epochs of a fine-tuning run: compile, go on where it was, fit, evaluate."""

import warnings
from collections.abc import Sequence
from typing import Any

from kerazoo.data.row_order import RowOrder, steps_of_epoch
from kerazoo.data.table import Table
from kerazoo.tasks.fine_tuning_task import FineTuningTask
from kerazoo.tasks.truncation import TruncationWarning
from kerazoo.training.checkpoint_writer import RunPlan
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.dry_run import one_step
from kerazoo.training.fit_plan import FitPart
from kerazoo.training.fit_progress import FitProgress
from kerazoo.training.forms.base import Form
from kerazoo.training.length_buckets import length_buckets
from kerazoo.training.optimizer import optimizer_of_run
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.resumable_fit import resumable_fit
from kerazoo.training.unfinished_run import UnfinishedRun


def train_epochs(
    form: Form,
    task: Any,
    tables: tuple[Table, Table],
    run: UnfinishedRun,
    config: FinetuneConfig,
    callbacks: Sequence[Any] = (),
    progress: Progress = SILENT,
) -> list[dict[str, Any]]:
    """Train a task until the epochs of the config are done.

    Args:
        form: the form of the task.
        task: a task, not compiled yet.
        tables: the rows to train on and those to evaluate on.
        run: where the run is; its last checkpoint is gone on from.
        config: the settings.
        callbacks: further Keras callbacks.
        progress: where to show how far the work is.

    Returns:
        For each epoch a dict of what it gave; see `FitProgress`.

    Raises:
        Exception: see `resumable_fit`.
    """
    train, held_out = (form.fit_rows(table, task) for table in tables)
    size, seed = config.batch_size, config.seed
    steps = steps_of_epoch(train.count, size)
    total = config.epochs * steps
    _compile(task, total, config)

    buckets = None
    if config.bucket_width is not None:
        buckets = length_buckets(train.x, task.preprocessor, config.bucket_width)

    def fit(part: FitPart, **options: Any) -> None:
        order = RowOrder(seed, part.first_step, buckets)
        form.fit(task, train, held_out, config, shuffle=order, **options)

    def rows_of_batch(number: int) -> str:
        chosen = RowOrder(seed, buckets=buckets).rows_of_batch(number, train.count, size)
        return form.where(tables[0], train, chosen)

    with warnings.catch_warnings():
        # It was counted and said already.
        warnings.simplefilter("ignore", TruncationWarning)
        return resumable_fit(
            task,
            fit,
            run,
            RunPlan(total, steps, config.checkpoint_every, config.keep_checkpoints),
            lambda step, said: FitProgress(progress, steps, config.epochs, step, said),
            rows_of_batch,
            callbacks,
            progress,
        )


def dry_epoch(
    form: Form,
    task: Any,
    tables: tuple[Table, Table],
    config: FinetuneConfig,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Compile the step with XLA, train on one batch and measure another one.

    Args:
        form: see `train_epochs`.
        task: see `train_epochs`; it is of no use afterwards.
        tables: see `train_epochs`.
        config: see `train_epochs`.
        progress: is told what came of it.

    Returns:
        The results, and the seconds.
    """
    train, held_out = (form.fit_rows(table, task) for table in tables)
    _compile(task, steps_of_epoch(train.count, config.batch_size), config, jit_compile=True)

    def fit(**options: Any) -> None:
        form.fit(task, train, held_out, config, shuffle=RowOrder(config.seed), **options)

    return one_step(fit, progress)


def _compile(task: Any, total_steps: int, config: FinetuneConfig, **options: Any) -> None:
    """Give a task its loss, an optimizer, and metrics that leave out rows without weight."""
    optimizer = optimizer_of_run(config, config.peak_learning_rate, total_steps)
    if task.static_rows is not None and isinstance(task, FineTuningTask):
        options |= {"metrics": None, "weighted_metrics": [task.default_metric()]}
    task.compile(optimizer, **options)
