"""Pre-train a BERT or a GPT from shards or raw text to a folder with the model and its metrics."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras

from kerazoo.conversion.source import open_checkpoint
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_source import RowSource
from kerazoo.training.counted import counted
from kerazoo.training.distributed_run import distributed_run
from kerazoo.training.mask_settings import mask_settings
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_data import PretrainData
from kerazoo.training.pretrain_loop import dry_steps, train_steps
from kerazoo.training.pretrain_task import family_of_size, load_task, new_task
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

_SPEED = "tokens_per_second"
_NOT_MEASURES = ("step", "seconds", _SPEED, "waiting_share")


def pretrain(
    data: str | Sequence[str],
    output: str | Path,
    config: PretrainConfig | None = None,
    *,
    preset: str | None = None,
    size: str | None = None,
    vocabulary: str | None = None,
    lowercase: bool = True,
    validation: str | None = None,
    tensorboard: str | None = None,
    resume: bool = False,
    progress: Progress = SILENT,
    strategy: str = AUTO,
    dry_run: bool = False,
    data_service: Sequence[str] = (),
) -> TrainingResult:
    """Train a model to fill in masked words (and say whether texts follow), or to go on with texts.

    Everything that can be wrong with the data is said before the first step. Until the run is
    complete the output folder holds only checkpoints. Stopped by SIGTERM or Ctrl-C, or killed, the
    run is gone on with by `resume`: on the CPU, TensorFlow and JAX reach the weights, bit for bit,
    that an uninterrupted run reaches.

    Args:
        data: a folder of `kerazoo prepare`, or files and folders of raw text, of which rows are
            made on the fly.
        output: the folder to create.
        config: the settings; None is the defaults.
        preset: a checkpoint to go on with, as `Task.from_preset` reads it; heads that it has are
            kept.
        size: a named size for a new model, in place of `preset`.
        vocabulary: the new model's vocabulary, a file or a folder; shards have theirs.
        lowercase: bool, lower-case the texts with `vocabulary`.
        validation: shards or raw text to evaluate on; None holds a share of the rows out.
        tensorboard: a folder for TensorBoard's logs; None writes none.
        resume: bool, go on with an unfinished run in the output folder, if there is one.
        progress: where to show how far the work is.
        strategy: the devices; see `kerazoo.training.distribution.from_name`.
        dry_run: bool, compile the step for the devices and make one; nothing is written.
        data_service: addresses of `kerazoo data-service`, which prepare the batches to train on in
            turns; none prepares them here. A dry run asks nobody.

    Returns:
        The folder and the metrics.

    Raises:
        BlockingIOError: if another process writes to the output folder.
        ConnectionError: if a data service does not answer.
        FileExistsError: if the output folder holds something.
        FileNotFoundError: if data, checkpoint or vocabulary are missing.
        ModuleNotFoundError: if `tensorboard` is asked for and not installed.
        ValueError: if the data are damaged or of another vocabulary, the rows are longer than the
            model reads, or two arguments do not fit together.
    """
    config = config or PretrainConfig()
    _check_beginning(preset, size)
    opened = distributed_run(strategy, output, resume, progress, dry_run)
    with opened as (devices, run, progress):
        callbacks = tensorboard_callbacks(tensorboard if devices.is_chief else None)
        source = PretrainData.open(data)
        source.check_settings(config)
        service = source.service(data_service)
        own = None if validation is None else PretrainData.open(validation)
        began = time.perf_counter()
        tokenizer = source.tokenizer(preset, vocabulary, lowercase)
        longest = _longest_row(preset, config)
        settings = source.row_settings(_is_causal(preset, size), config, longest)
        config = mask_settings(settings, config)
        rows, measured = _open_rows(source, own, tokenizer, settings, config, progress)
        described = {"preset": preset, "size": size, "data": list(source.paths)}
        described["validation"] = validation
        prints = _validation_print(own is not None, measured)
        what_begins = {**run_description(described, rows.fingerprint, config), **prints}
        # Earlier versions did not look at the rows to evaluate on.
        run.begin(what_begins, {**defaults_of(config), **prints})
        if run.is_complete:
            progress.say("The run is complete already.")
            return read_result(run.output)
        task = _make_task(preset, size, settings, tokenizer, config, progress)
        devices.prepare(task, config)
        if dry_run:
            return TrainingResult(Path(output), dry_steps(task, rows, measured, config, progress))
        what = (task, rows, measured, run, config, callbacks, progress)
        history = train_steps(*what, evaluate_first=preset is not None, service=service)
        metrics = {
            "task": task.task_name,
            "objective": settings.objective,
            **described,
            **_counts(task, rows, measured, settings, config),
            "evaluations": history,
            **_measured(history, measured is not None),
            "tokens_per_second": _tokens_per_second(history),
            "seconds": round(time.perf_counter() - began, 1),
        }
        write_run(task, metrics, config, run.output)
        run.finish()
        return TrainingResult(run.output, metrics)


def _make_task(
    preset: str | None,
    size: str | None,
    settings: PrepareSettings,
    tokenizer: Any,
    config: PretrainConfig,
    progress: Progress,
) -> Any:
    """Seed everything, and load the task or make a new one."""
    keras.utils.set_random_seed(config.seed)
    progress.say(f"Loading {preset} …" if preset else f"Making a new model of size {size} …")
    make = load_task if preset else new_task
    what = (settings.objective, settings.sequence_length, tokenizer, config)
    task = make(preset or size or "", *what)
    if task.load_report is not None:
        progress.say(str(task.load_report))
    return task


def summary(metrics: dict[str, Any]) -> str:
    """Return the most important measures in a line."""
    said = [counted(metrics["steps"], "step")]
    if "perplexity" in metrics:
        said.append(f"perplexity {metrics['perplexity']:.3f}")
    for name in ("accuracy", "masked_lm_accuracy", "next_sentence_accuracy"):
        if name in metrics:
            said.append(f"{name.replace('_', ' ')} {metrics[name]:.4f}")
    if metrics["validation_rows"]:
        said[-1] += f" on {counted(metrics['validation_rows'], 'row')} held out"
    if metrics["tokens_per_second"]:
        said.append(f"{metrics['tokens_per_second']:,} tokens/s")
    return ", ".join(said)


def _check_beginning(preset: str | None, size: str | None) -> None:
    if (preset is None) == (size is None):
        raise ValueError(
            "Name the checkpoint to go on with (`preset`), or a `size` to begin anew. "
            f"Received: preset={preset!r}, size={size!r}"
        )


def _is_causal(preset: str | None, size: str | None) -> bool:
    """Return whether the model reads from left to right."""
    family = family_of_size(size) if size else open_checkpoint(preset or "").family
    return family == "gpt"


def _longest_row(preset: str | None, config: PretrainConfig) -> int | None:
    """Return the most tokens that the model reads; None is no limit."""
    if preset is None:
        return config.max_sequence_length
    return open_checkpoint(preset).max_sequence_length


def _open_rows(
    source: PretrainData,
    own: PretrainData | None,
    tokenizer: Any,
    settings: PrepareSettings,
    config: PretrainConfig,
    progress: Progress,
) -> tuple[RowSource, RowSource | None]:
    """Return the rows to train on, and those whose held-out ones are measured."""
    fraction = config.validation_fraction if own is None else 0.0
    rows = source.rows(tokenizer, settings, fraction, config, progress)
    if own is not None:
        return rows, own.rows(tokenizer, settings, 1.0, config, progress)
    if not rows.held_out_rows:
        return rows, None
    total = rows.training_rows + rows.held_out_rows
    progress.say(f"Held out to evaluate on: {rows.held_out_rows:,} of {total:,} rows.")
    return rows, rows


def _validation_print(is_of_other_data: bool, measured: RowSource | None) -> dict[str, str]:
    """Return the fingerprint of rows to evaluate on, by its name; none if they are held out."""
    if not is_of_other_data or measured is None:
        return {}
    return {VALIDATION_ROWS: measured.fingerprint}


def _counts(
    task: Any,
    rows: RowSource,
    measured: RowSource | None,
    settings: PrepareSettings,
    config: PretrainConfig,
) -> dict[str, Any]:
    """Return how much of what there was."""
    steps = config.total_steps(rows.training_rows)
    return {
        "train_rows": rows.training_rows,
        "validation_rows": measured.held_out_rows if measured else 0,
        "sequence_length": settings.sequence_length,
        "steps": steps,
        "epochs": round(steps * config.batch_size / rows.training_rows, 4),
        "parameters": task.count_params(),
    }


def _measured(history: list[dict[str, Any]], has_validation: bool) -> dict[str, Any]:
    """Return the last evaluation; without validation data what was measured on the way."""
    last = {k: v for k, v in history[-1].items() if k not in _NOT_MEASURES}
    if has_validation:
        last = {k.removeprefix("val_"): v for k, v in last.items() if k.startswith("val_")}
    if "perplexity" in last:
        # Keras averages the batches' means; the perplexity's mean runs over tokens.
        last["loss"] = math.log(last["perplexity"])
    return last


def _tokens_per_second(history: list[dict[str, Any]]) -> int | None:
    """Return the real tokens of a second of training, evaluations and compiling left out."""
    timed = [entry for entry in history if entry[_SPEED]]
    seconds = sum(entry["seconds"] for entry in timed)
    if not seconds:
        return None
    return round(sum(entry["seconds"] * entry[_SPEED] for entry in timed) / seconds)
