"""Answer rows of text, a chunk at a time, so that a file may be of any size."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kerazoo.checks import check_positive
from kerazoo.data.row import Row
from kerazoo.data.source_lines import source_name
from kerazoo.tasks.row_error import RowError
from kerazoo.training.forms.base import BATCHES_OF_A_CHUNK, Form
from kerazoo.training.forms.registry import form_of
from kerazoo.training.generation_settings import GenerationSettings
from kerazoo.training.predictor import (
    Predictor,
    check_texts,
    open_predictor,
    trained_task,
    truncation_note,
)
from kerazoo.training.progress import SILENT, Progress


def predict(
    model: str | Path,
    rows: Iterable[Row] | str,
    batch_size: int = 32,
    progress: Progress = SILENT,
    generation: GenerationSettings | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield an answer for each row, in order.

    Args:
        model: a kerazoo preset, a Hugging Face folder or `hf://` handle with a trained task, or a
            SavedModel.
        rows: a file, as the task's form reads it, or rows; they are read while answers are taken.
        batch_size: int, rows computed together.
        progress: where to show how many rows were answered.
        generation: how a language model continues texts; None is the defaults.

    Yields:
        Dicts of the row's own columns and what the task answers: `label`, `score` and
        `probabilities` of a classifier, `generated_text` of a language model.

    Raises:
        FileNotFoundError: if there is no such model or file.
        ValueError: if the model was not trained for a task, or the rows do not suit it. What is
            wrong with a single row is said with its file and line.
    """
    check_positive("batch_size", batch_size)
    form = form_of(trained_task(model))
    name = source_name(rows) if isinstance(rows, str) else None
    rows = form.read_rows(rows) if isinstance(rows, str) else iter(rows)
    # A file that cannot be read is told before the seconds that loading a model takes.
    chunk = list(islice(rows, batch_size))
    predictor = open_predictor(model, generation)
    count = 0
    if predictor.load_note:
        progress.say(predictor.load_note)
    with progress.bar("predicting") as advance:
        while chunk:
            yield from _answered(form, predictor, chunk, batch_size, name)
            count += len(chunk)
            advance(len(chunk), "")
            chunk = list(islice(rows, batch_size * BATCHES_OF_A_CHUNK))
    if note := truncation_note(predictor, count):
        progress.say(note)


def _answered(
    form: Form, predictor: Predictor, chunk: list[Row], batch_size: int, name: str | None
) -> Iterator[dict[str, Any]]:
    """Answer some rows of the file `name`, None if they are of no file."""
    form.check_inputs(list(chunk[0].values))
    names = [name for name in form.input_columns if name in chunk[0].values]
    columns = {name: [row.values[name] for row in chunk] for name in names}
    check_texts(columns, predictor.pairs, "the input")
    try:
        answers = predictor.answer(columns, batch_size)
    except RowError as error:
        raise ValueError(f"{chunk[error.row].where(name)}: {error.fault}") from error
    for row, answer in zip(chunk, answers, strict=True):
        yield {**{name: row.values[name] for name in names}, **answer}
