"""Measure a model on labelled rows."""

import math
from pathlib import Path
from typing import Any

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.checks import check_positive
from kerazoo.data.read_table import read_table
from kerazoo.data.table import Table
from kerazoo.metrics.classification_report import classification_report
from kerazoo.training.labels import check_known_labels
from kerazoo.training.predictor import (
    Predictor,
    check_texts,
    open_predictor,
    truncation_note,
)
from kerazoo.training.progress import SILENT, Progress

# Of float32: the probability of a true label may be rounded to 0.
_LEAST_PROBABILITY = 1e-38


def evaluate(
    model: str | Path, data: str, batch_size: int = 32, progress: Progress = SILENT
) -> dict[str, Any]:
    """Compare a model's answers with the labels of a file.

    Args:
        model: a kerazoo preset, a Hugging Face folder or `hf://` handle with a classifier, or a
            SavedModel.
        data: a .tsv, .csv or .jsonl file with `text`, perhaps `text_pair`, and `label`; ``-`` is
            standard input.
        batch_size: int, rows computed together.
        progress: where to show how far the work is.

    Returns:
        The report of `classification_report`, and `loss`, the mean cross-entropy in nats.

    Raises:
        FileNotFoundError: if there is no such model or file.
        ValueError: if a row is wrong or has an unknown label; the message names file and line.
    """
    check_positive("batch_size", batch_size)
    table = read_table(data)
    predictor = open_predictor(model)
    if predictor.load_note:
        progress.say(predictor.load_note)
    measured = measure(predictor, table, batch_size, progress)
    if note := truncation_note(predictor, len(table)):
        progress.say(note)
    return measured


def measure(
    predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
) -> dict[str, Any]:
    """Compare a predictor's answers with the labels of a table; see `evaluate`."""
    check_known_labels(table, predictor.labels)
    columns = {name: table.columns[name] for name in (TEXT, TEXT_PAIR) if name in table.columns}
    check_texts(columns, predictor.pairs, table.path)
    answers = []
    step = 16 * batch_size
    with progress.bar("evaluating", len(table)) as advance:
        for start in range(0, len(table), step):
            part = {name: texts[start : start + step] for name, texts in columns.items()}
            answers.extend(predictor.answer(part, batch_size))
            advance(len(part[TEXT]), "")
    expected = table.columns[LABEL]
    report = classification_report(
        expected, [answer["label"] for answer in answers], predictor.labels
    )
    losses = [
        -math.log(max(answer["probabilities"][label], _LEAST_PROBABILITY))
        for answer, label in zip(answers, expected, strict=True)
    ]
    return {**report, "loss": sum(losses) / len(losses)}
