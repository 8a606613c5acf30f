"""Text similarity: a pair of texts, and a label or a score."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.data.read_table import read_rows, read_table
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.metrics.correlation import correlation_report
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.text_classification import TextClassificationForm
from kerazoo.training.labels import check_known_labels, label_names
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class TextSimilarityForm(TextClassificationForm):
    """Rows of `text`, `text_pair` and `label`, a name or a number.

    Numbers are scores if one of them has a fraction (3.75), else names of classes; the setting
    `regression` decides otherwise.
    """

    task_name = "text-similarity"
    required_columns = (TEXT, TEXT_PAIR)

    def read_table(self, path: str) -> Table:
        """Read labelled pairs."""
        return read_table(path, required=(TEXT, TEXT_PAIR, LABEL), optional=())

    def read_rows(self, path: str) -> Rows:
        """Yield pairs without labels."""
        return read_rows(path, required=(TEXT, TEXT_PAIR), optional=())

    def split_labels(self, table: Table, config: FinetuneConfig) -> list[str]:
        """Return the classes; scores are all one class, as few occur twice."""
        labels = table.columns[LABEL]
        return [""] * len(labels) if _are_scores(labels, config.regression) else labels

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Check that the validation rows have labels, or scores, as the training rows."""
        if _are_scores(train.columns[LABEL], config.regression):
            _scores(train)
            _scores(validation)
        else:
            check_known_labels(validation, label_names(train))

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return the labels; none is a score."""
        if _are_scores(train.columns[LABEL], config.regression):
            return {}
        return {"labels": label_names(train)}

    def targets(self, table: Table, task: Any) -> Any:
        """Return label names, or scores as (rows,) float32."""
        return table.columns[LABEL] if task.labels else _scores(table)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return a classification report, or for scores Pearson's r, Spearman's ρ and the loss."""
        if predictor.labels:
            return super().measure(predictor, table, batch_size, progress)
        answers = self.answer_table(predictor, table, batch_size, progress)
        return correlation_report(_scores(table), [answer["score"] for answer in answers])

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return accuracy and macro F1, or both correlations."""
        if "pearson" not in metrics:
            return super().summary(metrics)
        return f"Pearson {metrics['pearson']:.4f}, Spearman {metrics['spearman']:.4f}"


def _number(label: str) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _are_scores(labels: list[str], regression: bool | None) -> bool:
    """Return what the setting says, else whether a label has a fraction.

    Then all are scores, so that one that is no number is told and does not make classes of them.
    """
    if regression is not None:
        return regression
    numbers = [_number(label) for label in labels]
    return any(number is not None and number != round(number) for number in numbers)


def _scores(table: Table) -> np.ndarray:
    """Return the labels as (rows,) float32; a label that is no number names its line."""
    numbers = []
    for index, label in enumerate(table.columns[LABEL]):
        number = _number(label)
        if number is None:
            raise ValueError(
                f"{table.where(index)}: the score {label!r} is no number. Correct it, or give "
                "every row the name of a class."
            )
        numbers.append(number)
    return np.asarray(numbers, dtype="float32")
