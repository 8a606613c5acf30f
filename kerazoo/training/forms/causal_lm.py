"""Causal language modelling: plain texts, joined and cut into rows of one length."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kerazoo.axes import TEXT
from kerazoo.data.table import Table
from kerazoo.preprocessing.joined_rows import joined_rows
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import FitRows
from kerazoo.training.forms.plain_texts import PlainTextsForm
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class CausalLMForm(PlainTextsForm):
    """Plain texts, which are joined for training."""

    task_name = "causal-lm"

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return nothing: the rows decide nothing of the model."""
        return {}

    def fit_rows(self, table: Table, task: Any) -> FitRows:
        """Return rows of one length, cut from all texts joined."""
        rows = joined_rows(task.preprocessor, table.columns[TEXT])
        return FitRows(len(rows.targets), rows.features, rows.targets, rows.weights)

    def fit(
        self,
        task: Any,
        train: FitRows,
        validation: FitRows,
        config: FinetuneConfig,
        **options: Any,
    ) -> None:
        """Call `fit` on rows that are ready."""
        with task.without_preprocessor():
            super().fit(task, train, validation, config, **options)

    def where(self, table: Table, given: FitRows, numbers: Sequence[int]) -> str:
        """Return the numbers of rows, which are cut from all texts joined."""
        listed = ", ".join(map(str, sorted(numbers)))
        return f"the rows {listed} (from 0) of the joined texts of {table.path}"

    def count_truncated(self, task: Any, table: Table) -> int:
        """Return 0: a long text goes on in the next row."""
        return 0

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `tokens`, `loss` in nats a token, `perplexity` and `accuracy`.

        Raises:
            ValueError: if the predictor is a SavedModel, which gives texts and no probabilities.
        """
        task = getattr(predictor, "task", None)
        if task is None:
            raise ValueError(
                "The perplexity is measured on a preset; an exported language model gives texts "
                "and no probabilities. Name the folder that it was exported from."
            )
        rows = self.fit_rows(table, task)
        with task.without_preprocessor():
            measured = task.evaluate(
                rows.x,
                rows.y,
                sample_weight=rows.sample_weight,
                batch_size=batch_size,
                verbose=0,
                return_dict=True,
            )
        return {
            "rows": len(table),
            "tokens": int(rows.sample_weight.sum()),
            # Keras averages the batches' means; the perplexity's mean runs over tokens.
            "loss": math.log(measured["perplexity"]),
            "perplexity": float(measured["perplexity"]),
            "accuracy": float(measured["accuracy"]),
        }

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return perplexity and accuracy."""
        return f"perplexity {metrics['perplexity']:.3f}, accuracy {metrics['accuracy']:.4f}"
