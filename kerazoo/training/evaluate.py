"""Measure a model on labelled rows."""

from pathlib import Path
from typing import Any

from kerazoo.checks import check_positive
from kerazoo.data.tag_schemes import BIO
from kerazoo.training.forms.registry import form_of
from kerazoo.training.predictor import open_predictor, trained_task, truncation_note
from kerazoo.training.progress import SILENT, Progress


def evaluate(
    model: str | Path,
    data: str,
    batch_size: int = 32,
    progress: Progress = SILENT,
    strict: bool = False,
    tag_scheme: str = BIO,
) -> dict[str, Any]:
    """Compare a model's answers with the labels of a file.

    Args:
        model: a kerazoo preset, a Hugging Face folder or `hf://` handle with a trained task, or a
            SavedModel.
        data: a file of labelled rows, as the task's form reads them; ``-`` is standard input.
        batch_size: int, rows computed together.
        progress: where to show how far the work is.
        strict: bool, whether a bad row is an error where the task can leave it out.
        tag_scheme: how the file marks entities, where the task has any.

    Returns:
        The task's name as `task`, and what its form measures: accuracy, correlation or perplexity;
        `skipped_rows`, if rows were left out.

    Raises:
        FileNotFoundError: if there is no such model or file.
        ValueError: if a row is wrong or has an unknown label; the message names file and line.
    """
    check_positive("batch_size", batch_size)
    # A file that cannot be read is told before the seconds that loading a model takes.
    form = form_of(trained_task(model), strict, tag_scheme)
    table = form.read_table(data)
    skipped = table.skipped
    if note := table.skipped_note():
        progress.say(note)
    predictor = open_predictor(model)
    if predictor.load_note:
        progress.say(predictor.load_note)
    if (task := getattr(predictor, "task", None)) is not None:
        table = form.usable(table, task)
        skipped += table.skipped
        if note := table.skipped_note():
            progress.say(note)
    measured = form.measure(predictor, table, batch_size, progress)
    if note := truncation_note(predictor, len(table)):
        progress.say(note)
    left_out = {"skipped_rows": len(skipped)} if skipped else {}
    return {"task": predictor.task_name, **measured, **left_out}
