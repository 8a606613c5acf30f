"""Masked words and next sentences together: pairs of texts, and whether they belong together."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.data.read_table import read_rows
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.forms.masking_arguments import masking_arguments
from kerazoo.training.forms.next_sentence import read_sentence_pairs
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class BertPretrainingForm(Form):
    """Rows of `text`, `text_pair` and `label` to learn from; single texts with [MASK] to answer."""

    task_name = "bert-pretraining"
    input_columns = (TEXT,)

    def read_table(self, path: str) -> Table:
        """Read labelled pairs."""
        return read_sentence_pairs(path)

    def read_rows(self, path: str) -> Rows:
        """Yield texts to answer."""
        return read_rows(path, required=(TEXT,), optional=())

    def check_inputs(self, names: Sequence[str]) -> None:
        """Raise ValueError for pairs, of which the model has learnt something but answers nothing.

        See `Form.check_inputs`.
        """
        if TEXT_PAIR in names:
            raise ValueError(
                f"A model of {self.task_name} fills in the masks of single texts: leave the second "
                "text out. To ask whether one text follows another, train next-sentence from it: "
                "kerazoo finetune next-sentence --preset …. "
                f"Received: rows with {', '.join(f'`{name}`' for name in names)}"
            )
        super().check_inputs(names)

    def columns(self, table: Table) -> dict[str, list[Any]]:
        """Return the pairs."""
        return {name: table.columns[name] for name in (TEXT, TEXT_PAIR)}

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return how texts are masked, as far as it was chosen."""
        return masking_arguments(config)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `loss` and, of both parts, loss and accuracy.

        Raises:
            ValueError: if the predictor is a SavedModel, which masks nothing.
        """
        task = getattr(predictor, "task", None)
        if task is None:
            raise ValueError(
                "Pre-training is measured on a preset; an exported model fills in the masks of "
                "its texts only. Name the folder that it was exported from."
            )
        measured = task.evaluate(
            self.columns(table),
            self.targets(table, task),
            batch_size=batch_size,
            verbose=0,
            return_dict=True,
        )
        return {"rows": len(table), **{name: float(value) for name, value in measured.items()}}

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return both accuracies."""
        return (
            f"masked accuracy {metrics['masked_lm_accuracy']:.4f}, "
            f"next-sentence accuracy {metrics['next_sentence_accuracy']:.4f}"
        )
