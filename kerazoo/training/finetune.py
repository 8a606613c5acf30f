"""Fine-tune a task from files to a folder with the model, its metrics and its settings."""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kerazoo.conversion.new_folder import check_is_free, new_folder
from kerazoo.data.source_lines import STANDARD_INPUT
from kerazoo.data.table import Table
from kerazoo.tasks.registry import task_class
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.forms.registry import form_of
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.run_folder import TrainingResult, write_run


def finetune(
    task_name: str,
    preset: str,
    train: str,
    validation: str | None,
    output: str | Path,
    config: FinetuneConfig | None = None,
    progress: Progress = SILENT,
) -> TrainingResult:
    """Fine-tune a checkpoint on labelled text, measure it, and write it to a new folder.

    Everything that can be wrong with the files is said before the model is loaded. The folder
    appears when the run is complete; a run that fails or is killed leaves none.

    Args:
        task_name: a key of `kerazoo.training.forms.registry.FORMS`, "text-classification".
        preset: a kerazoo preset, a Hugging Face folder, Google's TF1 checkpoint, or an `hf://`
            handle.
        train: a file of labelled rows, as the task's form reads them; ``-`` is standard input.
        validation: a file of the same form; None holds a share of the training rows out.
        output: the folder to create; it must not hold anything.
        config: the settings; None is the defaults.
        progress: where to show how far the work is.

    Returns:
        The folder and the metrics.

    Raises:
        FileNotFoundError: if a file or the checkpoint is missing.
        FileExistsError: if the output folder holds something.
        ValueError: if a file or the checkpoint is wrong; the message names file and line.
    """
    config = config or FinetuneConfig()
    form = form_of(task_name, config.strict, config.tag_scheme)
    check_is_free(Path(output))
    train_table, validation_table, skipped = _read_tables(form, train, validation, config, progress)
    form.check(train_table, validation_table, config)
    arguments = form.task_arguments(train_table, config)
    with new_folder(output) as folder:
        began = time.perf_counter()
        task = _load_task(task_name, preset, arguments, config, progress)
        train_table, validation_table = (
            form.usable(table, task) for table in (train_table, validation_table)
        )
        skipped += _say_skipped((train_table, validation_table), progress)
        truncated = _count_truncated(form, task, [train_table, validation_table], progress)
        epochs = _fit(form, task, train_table, validation_table, config, progress)
        metrics = {
            "task": task_name,
            "preset": preset,
            "train": train,
            "validation": validation,
            "train_rows": len(train_table),
            "validation_rows": len(validation_table),
            "skipped_rows": skipped,
            "sequence_length": task.preprocessor.sequence_length,
            "truncated_rows": truncated,
            "parameters": task.count_params(),
            "epochs": epochs,
            **_measured(form, task, validation_table, config, progress),
            "seconds": round(time.perf_counter() - began, 1),
        }
        # How batches are padded here is a matter of this backend, not of the model.
        task.preprocessor.pad_to_multiple_of = None
        write_run(task, metrics, config, folder)
    return TrainingResult(Path(output), metrics)


def _read_tables(
    form: Form, train: str, validation: str | None, config: FinetuneConfig, progress: Progress
) -> tuple[Table, Table, int]:
    """Read both files, or hold validation rows out of the one; count the rows left out."""
    if train == validation == STANDARD_INPUT:
        raise ValueError("Only one of the training and the validation rows can be standard input.")
    table = form.read_table(train)
    if validation is not None:
        tables = table, form.read_table(validation)
        return *tables, _say_skipped(tables, progress)
    skipped = _say_skipped((table,), progress)
    kept, held_out = form.split(table, config)
    progress.say(
        f"No validation file: {len(held_out)} of {len(table)} rows "
        f"({config.validation_fraction:.0%}) are held out."
    )
    return table.take(kept), table.take(held_out), skipped


def _say_skipped(tables: Sequence[Table], progress: Progress) -> int:
    """Say which rows are left out, and return how many."""
    for table in tables:
        if note := table.skipped_note():
            progress.say(note)
    return sum(len(table.skipped) for table in tables)


def _load_task(
    task_name: str,
    preset: str,
    arguments: dict[str, Any],
    config: FinetuneConfig,
    progress: Progress,
) -> Any:
    """Seed everything, load the checkpoint and put a head on it."""
    import keras

    from kerazoo.training.preset_predictor import padding_multiple

    progress.say(f"Loading {preset} …")
    keras.utils.set_random_seed(config.seed)
    if config.freeze_backbone:
        arguments = {**arguments, "freeze_backbone": True}
    if config.lm_loss_weight is not None:
        arguments = {**arguments, "lm_loss_weight": config.lm_loss_weight}
    task = task_class(task_name).from_preset(
        preset,
        **arguments,
        dtype=config.precision,
        pad_to_multiple_of=padding_multiple(),
    )
    limit = task.backbone.config.max_sequence_length
    if config.sequence_length is None:
        limit = min(limit, task.preprocessor.sequence_length)
    task.preprocessor.sequence_length = config.row_length(limit)
    if task.load_report is not None:
        progress.say(str(task.load_report))
    if not config.freeze_backbone:
        # A preset that was written with a frozen backbone would stay frozen.
        task.backbone.trainable = True
    if config.lora_rank:
        _check_lora_rank(config.lora_rank, task.backbone.config.hidden_dim)
        task.backbone.enable_lora(config.lora_rank)
    return task


def _check_lora_rank(rank: int, hidden_dim: int) -> None:
    if rank > hidden_dim:
        raise ValueError(
            f"The updates of LoRA have a lower rank than the weights, which are {hidden_dim} wide "
            f"here; 8 or 16 is usual. Received: lora_rank={rank}"
        )


def _count_truncated(form: Form, task: Any, tables: list[Table], progress: Progress) -> int:
    """Count the texts over the limit, and say it once."""
    limit = task.preprocessor.sequence_length
    count = sum(form.count_truncated(task, table) for table in tables)
    if count:
        rows = sum(len(table) for table in tables)
        progress.say(
            f"{count} of {rows} texts are longer than {limit} tokens and are truncated "
            "(--sequence-length raises the limit)."
        )
    return count


def _fit(
    form: Form,
    task: Any,
    train: Table,
    validation: Table,
    config: FinetuneConfig,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Compile and fit; return what each epoch gave."""
    from kerazoo.training.fit_progress import FitProgress
    from kerazoo.training.optimizer import create_optimizer
    from kerazoo.training.schedule import WarmupLinearDecay

    rows, held_out = form.fit_rows(train, task), form.fit_rows(validation, task)
    steps = config.epochs * -(-rows.count // config.batch_size)
    schedule = WarmupLinearDecay(config.peak_learning_rate, config.warmup_steps(steps), steps)
    task.compile(create_optimizer(schedule, config.weight_decay, config.clip_norm))
    with warnings.catch_warnings(), FitProgress(progress) as callback:
        # It was counted and said already.
        warnings.filterwarnings("ignore", message=".*texts are longer than")
        form.fit(task, rows, held_out, config, callbacks=[callback], verbose=0)
    return callback.epochs


def _measured(
    form: Form,
    task: Any,
    validation: Table,
    config: FinetuneConfig,
    progress: Progress,
) -> dict[str, Any]:
    """Measure the trained task on the validation rows."""
    from kerazoo.training.preset_predictor import PresetPredictor

    return form.measure(PresetPredictor(task), validation, config.batch_size, progress)
