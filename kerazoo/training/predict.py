"""Answer rows of text, a chunk at a time, so that a file may be of any size."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.checks import check_positive
from kerazoo.data.row import Row
from kerazoo.training.predictor import (
    Predictor,
    check_texts,
    open_predictor,
    truncation_note,
)
from kerazoo.training.progress import SILENT, Progress

# Starting a computation costs some tens of milliseconds; over this many batches that is little.
_BATCHES_OF_A_CHUNK = 16


def predict(
    model: str | Path,
    rows: Iterable[Row],
    batch_size: int = 32,
    progress: Progress = SILENT,
) -> Iterator[dict[str, Any]]:
    """Yield an answer for each row, in order.

    Args:
        model: a kerazoo preset, a Hugging Face folder or `hf://` handle with a classifier, or a
            SavedModel.
        rows: rows with `text` and, for pairs, `text_pair`; they are read while answers are taken.
        batch_size: int, rows computed together.
        progress: where to show how many rows were answered.

    Yields:
        Dicts of `text` (and `text_pair`), `label`, `score` and `probabilities`.

    Raises:
        FileNotFoundError: if there is no such model.
        ValueError: if the model is no classifier, or it and the rows differ in being pairs.
    """
    check_positive("batch_size", batch_size)
    rows = iter(rows)
    # A file that cannot be read is told before the seconds that loading a model takes.
    chunk = list(islice(rows, batch_size))
    predictor = open_predictor(model)
    count = 0
    if predictor.load_note:
        progress.say(predictor.load_note)
    with progress.bar("predicting") as advance:
        while chunk:
            yield from _answered(predictor, chunk, batch_size)
            count += len(chunk)
            advance(len(chunk), "")
            chunk = list(islice(rows, batch_size * _BATCHES_OF_A_CHUNK))
    if note := truncation_note(predictor, count):
        progress.say(note)


def _answered(predictor: Predictor, chunk: list[Row], batch_size: int) -> Iterator[dict[str, Any]]:
    """Answer some rows."""
    names = [name for name in (TEXT, TEXT_PAIR) if name in chunk[0].values]
    columns = {name: [row.values[name] for row in chunk] for name in names}
    check_texts(columns, predictor.pairs, "the input")
    for row, answer in zip(chunk, predictor.answer(columns, batch_size), strict=True):
        yield {**{name: row.values[name] for name in names}, **answer}
