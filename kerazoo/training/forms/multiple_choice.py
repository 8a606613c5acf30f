"""Multiple choice: a context, perhaps a question, several choices, and the number of the right."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerazoo.axes import CHOICES, CONTEXT, LABEL, QUESTION
from kerazoo.data.multiple_choice import multiple_choice_rows, read_multiple_choice
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.forms.cross_entropy import mean_cross_entropy
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class MultipleChoiceForm(Form):
    """JSON lines of `context`, perhaps `question`, `choices` and `label`, a number from 0."""

    task_name = "multiple-choice"
    input_columns = (CONTEXT, QUESTION, CHOICES)
    required_columns = (CHOICES,)

    def read_table(self, path: str) -> Table:
        """Read labelled rows."""
        return read_multiple_choice(path)

    def read_rows(self, path: str) -> Rows:
        """Yield rows, which need no label."""
        return multiple_choice_rows(path, with_labels=False)

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Accept any two files: labels were checked against each row's choices."""

    def split_labels(self, table: Table, config: FinetuneConfig) -> Sequence[str]:
        """Return the numbers of the right choices."""
        return [str(label) for label in table.columns[LABEL]]

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return nothing: the rows decide nothing of the model."""
        return {}

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `accuracy`, `loss` in nats, and `chance`, the accuracy of guessing."""
        answers = self.answer_table(predictor, table, batch_size, progress)
        labels = table.columns[LABEL]
        right = [answer["choice"] == label for answer, label in zip(answers, labels, strict=True)]
        loss = mean_cross_entropy(
            answer["scores"][label] for answer, label in zip(answers, labels, strict=True)
        )
        chances = [1 / len(choices) for choices in table.columns[CHOICES]]
        return {
            "rows": len(table),
            "accuracy": sum(right) / len(right),
            "chance": sum(chances) / len(chances),
            "loss": loss,
        }

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return the accuracy beside that of guessing."""
        return f"accuracy {metrics['accuracy']:.4f} (guessing {metrics['chance']:.4f})"
