"""Fine-tune a task from files to a folder with the model, its metrics and its settings."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kerazoo.conversion.source import CheckpointSource, open_checkpoint
from kerazoo.data.source_lines import STANDARD_INPUT
from kerazoo.data.table import Table
from kerazoo.tasks.registry import task_class
from kerazoo.tasks.truncation import truncated_texts
from kerazoo.training.checkpoint_fit import checked_row_length
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.forms.registry import form_of
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.run_folder import (
    VALIDATION_ROWS,
    TrainingResult,
    defaults_of,
    read_result,
    run_description,
    write_run,
)
from kerazoo.training.settings import AUTO
from kerazoo.training.tensorboard_logs import tensorboard_callbacks
from kerazoo.training.unfinished_run import UnfinishedRun


def finetune(
    task_name: str,
    preset: str,
    train: str,
    validation: str | None,
    output: str | Path,
    config: FinetuneConfig | None = None,
    progress: Progress = SILENT,
    *,
    resume: bool = False,
    tensorboard: str | None = None,
    strategy: str = AUTO,
    dry_run: bool = False,
) -> TrainingResult:
    """Fine-tune a checkpoint on labelled text, measure it, and write it to a new folder.

    Everything that can be wrong with the files, and with settings that the checkpoint's small files
    contradict, is said before its weights are loaded. Until the run is complete the output folder
    holds only checkpoints and history.jsonl. Stopped by SIGTERM or Ctrl-C, or killed, the run is
    gone on with by `resume`: on the CPU, TensorFlow and JAX reach the weights, bit for bit, that an
    uninterrupted run reaches. A run that fails before its first checkpoint leaves nothing.

    Args:
        task_name: a key of `kerazoo.training.forms.registry.FORMS`, "text-classification".
        preset: a kerazoo preset, a Hugging Face folder, Google's TF1 checkpoint, or an `hf://`
            handle.
        train: a file of labelled rows, as the task's form reads them; ``-`` is standard input.
        validation: a file of the same form; None holds a share of the training rows out.
        output: the folder to create; it must not hold anything.
        config: the settings; None is the defaults.
        progress: where to show how far the work is.
        resume: bool, go on with an unfinished run in the output folder, if there is one.
        tensorboard: a folder for TensorBoard's logs; None writes none.
        strategy: the devices; see `kerazoo.training.distribution.from_name`.
        dry_run: bool, compile the step for the devices and make one; nothing is written.

    Returns:
        The folder and the metrics.

    Raises:
        BlockingIOError: if another process writes to the output folder.
        FileExistsError: if the output folder holds something.
        FileNotFoundError: if a file or the checkpoint is missing.
        ModuleNotFoundError: if `tensorboard` is asked for and not installed.
        NonFiniteError: if a loss or a gradient is not a finite number.
        ValueError: if a file or the checkpoint is wrong; the message names file and line.
    """
    from kerazoo.training.distributed_run import distributed_run
    from kerazoo.training.finetune_loop import dry_epoch, train_epochs

    config = config or FinetuneConfig()
    form = form_of(task_name, config.strict, config.tag_scheme)
    opened = distributed_run(strategy, output, resume, progress, dry_run)
    with opened as (devices, run, progress):
        callbacks = tensorboard_callbacks(tensorboard if devices.is_chief else None)
        read, skipped = _read_tables(form, train, validation, config, progress)
        form.check(*read, config)
        arguments = form.task_arguments(read[0], config)
        began = time.perf_counter()
        described = {"task": task_name, "preset": preset, "train": train, "validation": validation}
        _begin(run, described, read, config)
        if run.is_complete:
            progress.say("The run is complete already.")
            return read_result(run.output)
        progress.say(f"Loading {preset} …")
        source = open_checkpoint(preset)
        arguments["sequence_length"] = checked_row_length(form, source, config)
        task = _load_task(task_name, source, arguments, config, progress)
        devices.prepare(task, config)
        tables = form.usable(read[0], task), form.usable(read[1], task)
        skipped += _say_skipped(tables, progress)
        truncated = _count_truncated(form, task, tables, progress)
        if dry_run:
            return TrainingResult(Path(output), dry_epoch(form, task, tables, config, progress))
        epochs = train_epochs(form, task, tables, run, config, callbacks, progress)
        metrics = {
            **described,
            "train_rows": len(tables[0]),
            "validation_rows": len(tables[1]),
            "skipped_rows": skipped,
            "sequence_length": task.preprocessor.sequence_length,
            "truncated_rows": truncated,
            "parameters": task.count_params(),
            "epochs": epochs,
            **_measured(form, task, tables[1], config, progress),
            "seconds": round(time.perf_counter() - began, 1),
        }
        # How batches are padded here is a matter of this backend, not of the model.
        task.preprocessor.pad_to_multiple_of = None
        write_run(task, metrics, config, run.output)
        run.finish()
        return TrainingResult(run.output, metrics)


def _begin(
    run: UnfinishedRun, described: dict[str, Any], read: Sequence[Table], config: FinetuneConfig
) -> None:
    """Begin a run, or go on with it, with the rows that were read."""
    prints = [table.fingerprint for table in read]
    measured = {VALIDATION_ROWS: prints[1]}
    # Earlier versions had it among the rows alone.
    defaults = {**defaults_of(config), **measured}
    run.begin({**run_description(described, prints, config), **measured}, defaults)


def _read_tables(
    form: Form, train: str, validation: str | None, config: FinetuneConfig, progress: Progress
) -> tuple[tuple[Table, Table], int]:
    """Read both files, or hold validation rows out of the one; count the rows left out."""
    if train == validation == STANDARD_INPUT:
        raise ValueError("Only one of the training and the validation rows can be standard input.")
    table = form.read_table(train)
    if validation is not None:
        tables = table, form.read_table(validation)
        return tables, _say_skipped(tables, progress)
    skipped = _say_skipped((table,), progress)
    kept, held_out = form.split(table, config)
    progress.say(
        f"No validation file: {len(held_out)} of {len(table)} rows "
        f"({config.validation_fraction:.0%}) {'is' if len(held_out) == 1 else 'are'} held out."
    )
    return (table.take(kept), table.take(held_out)), skipped


def _say_skipped(tables: Sequence[Table], progress: Progress) -> int:
    """Say which rows are left out, and return how many."""
    for table in tables:
        if note := table.skipped_note():
            progress.say(note)
    return sum(len(table.skipped) for table in tables)


def _load_task(
    task_name: str,
    source: CheckpointSource,
    arguments: dict[str, Any],
    config: FinetuneConfig,
    progress: Progress,
) -> Any:
    """Seed everything, load the checkpoint and put a head on it."""
    import keras

    from kerazoo.training.preset_predictor import padding_multiple

    keras.utils.set_random_seed(config.seed)
    if config.freeze_backbone:
        arguments = {**arguments, "freeze_backbone": True}
    if config.lm_loss_weight is not None:
        arguments = {**arguments, "lm_loss_weight": config.lm_loss_weight}
    task = task_class(task_name).from_preset(
        source,
        **arguments,
        dtype=config.precision,
        pad_to_multiple_of=config.bucket_width or padding_multiple(),
    )
    if task.preprocessor is None:
        raise ValueError(
            f"{source.folder} has no tokenizer, so texts cannot be read. Save one into the same "
            "folder: kerazoo.WordPieceTokenizer(vocabulary).save_to_preset(folder)."
        )
    if task.load_report is not None:
        progress.say(str(task.load_report))
    if not config.freeze_backbone:
        # A preset that was written with a frozen backbone would stay frozen.
        task.backbone.trainable = True
    if config.lora_rank:
        # A backbone of KerasHub has its sizes as attributes.
        sizes = getattr(task.backbone, "config", task.backbone)
        _check_lora_rank(config.lora_rank, sizes.hidden_dim)
        task.backbone.enable_lora(config.lora_rank)
    return task


def _check_lora_rank(rank: int, hidden_dim: int) -> None:
    if rank > hidden_dim:
        raise ValueError(
            f"The updates of LoRA have a lower rank than the weights, which are {hidden_dim} wide "
            f"here; 8 or 16 is usual. Received: lora_rank={rank}"
        )


def _count_truncated(form: Form, task: Any, tables: tuple[Table, Table], progress: Progress) -> int:
    """Count the texts over the limit, and say it once."""
    limit = task.preprocessor.sequence_length
    count = sum(form.count_truncated(task, table) for table in tables)
    if count:
        rows = sum(len(table) for table in tables)
        progress.say(f"{truncated_texts(count, rows, limit)} (--sequence-length raises the limit).")
    return count


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
