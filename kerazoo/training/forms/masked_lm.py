"""Masked language modelling: plain texts, of which some tokens are masked."""

import math
from collections.abc import Mapping
from typing import Any

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.masking_arguments import masking_arguments
from kerazoo.training.forms.plain_texts import PlainTextsForm
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class MaskedLMForm(PlainTextsForm):
    """Plain texts to learn from; texts with [MASK] to answer."""

    task_name = "masked-lm"

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return how texts are masked, as far as it was chosen."""
        return masking_arguments(config)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `loss` in nats a masked token, `perplexity` and `accuracy`.

        The same texts in batches of the same size are always masked in the same way.

        Raises:
            ValueError: if the predictor is a SavedModel, which fills in masks and masks nothing.
        """
        task = getattr(predictor, "task", None)
        if task is None:
            raise ValueError(
                "Masked words are measured on a preset; an exported model fills in the masks of "
                "its texts only. Name the folder that it was exported from."
            )
        measured = task.evaluate(
            self.columns(table), batch_size=batch_size, verbose=0, return_dict=True
        )
        return {
            "rows": len(table),
            # Keras averages the batches' means; the perplexity's mean runs over masked tokens.
            "loss": math.log(measured["perplexity"]),
            "perplexity": float(measured["perplexity"]),
            "accuracy": float(measured["accuracy"]),
        }

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return accuracy and perplexity of masked tokens."""
        return f"masked accuracy {metrics['accuracy']:.4f}, perplexity {metrics['perplexity']:.3f}"
