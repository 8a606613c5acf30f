"""Text classification: a text or a pair of texts, and the name of its label."""

from collections.abc import Mapping
from typing import Any

from kerazoo.axes import LABEL
from kerazoo.data.table import Table
from kerazoo.metrics.classification_report import classification_report
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import FitRows, Form
from kerazoo.training.forms.cross_entropy import mean_cross_entropy
from kerazoo.training.labels import balanced_weights, check_known_labels, label_names
from kerazoo.training.predictor import Predictor, check_texts
from kerazoo.training.progress import SILENT, Progress


class TextClassificationForm(Form):
    """Rows of `text`, perhaps `text_pair`, and `label`, a name."""

    task_name = "text-classification"

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Check that every label is learnt and that both files have pairs, or none."""
        check_known_labels(validation, label_names(train))
        super().check(train, validation, config)

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return the labels, and the pooling if it was chosen."""
        pooling = {} if config.pooling is None else {"pooling": config.pooling}
        return {"labels": label_names(train), **pooling}

    def fit(
        self,
        task: Any,
        train: FitRows,
        validation: FitRows,
        config: FinetuneConfig,
        **options: Any,
    ) -> None:
        """Call `fit`; every label weighs the same if the settings say so."""
        if config.class_weight is not None:
            options["class_weight"] = balanced_weights(train.y)
        super().fit(task, train, validation, config, **options)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return the report of `classification_report`, and `loss`, in nats."""
        check_known_labels(table, predictor.labels)
        check_texts(self.columns(table), predictor.pairs, table.path)
        answers = self.answer_table(predictor, table, batch_size, progress)
        expected = table.columns[LABEL]
        answered = [answer["label"] for answer in answers]
        loss = mean_cross_entropy(
            answer["probabilities"][label] for answer, label in zip(answers, expected, strict=True)
        )
        return {**classification_report(expected, answered, predictor.labels), "loss": loss}

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return accuracy and macro F1."""
        return f"accuracy {metrics['accuracy']:.4f}, macro F1 {metrics['macro_f1']:.4f}"
