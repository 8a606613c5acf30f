"""Causal language modelling: plain texts, joined and cut into rows of one length."""

import math
from collections.abc import Mapping
from typing import Any

from kerazoo.axes import TEXT
from kerazoo.data.read_table import read_rows, read_table
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.preprocessing.joined_rows import JoinedRows, joined_rows
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class CausalLMForm(Form):
    """Rows of `text`: one a line of a plain text file, or the column `text` of another one."""

    task_name = "causal-lm"
    input_columns = (TEXT,)

    def read_table(self, path: str) -> Table:
        """Read texts; labels, if there are any, are not read."""
        return read_table(path, required=(TEXT,), optional=())

    def read_rows(self, path: str) -> Rows:
        """Yield prompts."""
        return read_rows(path, required=(TEXT,), optional=())

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Accept any two files."""

    def split_labels(self, table: Table, config: FinetuneConfig) -> list[str]:
        """Return one class for all rows."""
        return [""] * len(table)

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return nothing: the rows decide nothing of the model."""
        return {}

    def fit(
        self,
        task: Any,
        train: Table,
        validation: Table,
        config: FinetuneConfig,
        **options: Any,
    ) -> None:
        """Call `fit` on rows of one length, cut from all texts joined."""
        rows, held_out = (_joined(task, table) for table in (train, validation))
        with task.without_preprocessor():
            task.fit(
                rows.features,
                rows.targets,
                sample_weight=rows.weights,
                validation_data=(held_out.features, held_out.targets, held_out.weights),
                batch_size=config.batch_size,
                epochs=config.epochs,
                **options,
            )

    def steps_of_an_epoch(self, task: Any, train: Table, config: FinetuneConfig) -> int:
        """Return how many batches the joined rows make."""
        return -(-len(_joined(task, train).targets) // config.batch_size)

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
        rows = _joined(task, table)
        with task.without_preprocessor():
            measured = task.evaluate(
                rows.features,
                rows.targets,
                sample_weight=rows.weights,
                batch_size=batch_size,
                verbose=0,
                return_dict=True,
            )
        return {
            "rows": len(table),
            "tokens": int(rows.weights.sum()),
            # Keras averages the batches' means; the perplexity's mean runs over tokens.
            "loss": math.log(measured["perplexity"]),
            "perplexity": float(measured["perplexity"]),
            "accuracy": float(measured["accuracy"]),
        }

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return perplexity and accuracy."""
        return f"perplexity {metrics['perplexity']:.3f}, accuracy {metrics['accuracy']:.4f}"


def _joined(task: Any, table: Table) -> JoinedRows:
    return joined_rows(task.preprocessor, table.columns[TEXT])
