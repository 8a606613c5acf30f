"""Answers from a preset or a Hugging Face folder, computed by Keras."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import keras

from kerazoo.conversion.source import KERAZOO, open_checkpoint
from kerazoo.tasks.text_classifier import TextClassifier
from kerazoo.training.predictor import Answer

_MULTIPLE = 16


def padding_multiple() -> int | None:
    """Return what a batch's width is rounded up to; None where every width is compiled anew."""
    return None if keras.config.backend() == "jax" else _MULTIPLE


class PresetPredictor:
    """A `TextClassifier` as a `kerazoo.training.predictor.Predictor`.

    Args:
        task: the trained task.
    """

    def __init__(self, task: TextClassifier) -> None:
        """Keep the task."""
        if task.preprocessor is None:
            raise ValueError(
                "The task was saved without a tokenizer, so it cannot read texts. "
                f"Received: task={task.name!r} with preprocessor=None"
            )
        self.task = task
        self.preprocessor = task.preprocessor
        self.labels: list[str] = task.labels
        self.pairs: bool | None = task.pairs
        self.load_note: str | None = None
        self.sequence_length: int | None = task.preprocessor.sequence_length
        self.truncated = 0

    @classmethod
    def from_preset(cls, preset: str | Path) -> Self:
        """Load a task that was trained.

        Raises:
            FileNotFoundError: if there is no such folder.
            ValueError: if it is no checkpoint, or has no classifier.
        """
        source = open_checkpoint(preset)
        if source.format == KERAZOO:
            has_head = (source.folder / "task.json").is_file()
        else:
            has_head = bool(source.task_config(TextClassifier.task_name))
        if not has_head:
            raise ValueError(_untrained(preset))
        task = TextClassifier.from_preset(source, pad_to_multiple_of=padding_multiple())
        missing = () if task.load_report is None else task.load_report.missing
        if any("classifier" in path for path in missing):
            raise ValueError(_untrained(preset))
        predictor = cls(task)
        if source.format != KERAZOO:
            predictor.pairs = None
        if task.load_report is not None and not task.load_report.is_complete:
            predictor.load_note = str(task.load_report)
        return predictor

    def answer(self, columns: Mapping[str, Sequence[str]], batch_size: int) -> list[Answer]:
        """Answer each row; see `Predictor`."""
        texts = {name: list(column) for name, column in columns.items()}
        self.truncated += self.preprocessor.count_truncated(texts)
        with warnings.catch_warnings():
            # Counted here, to be said once for all rows.
            warnings.filterwarnings("ignore", message=".*texts are longer than")
            return self.task.classify(texts, batch_size=batch_size)


def _untrained(preset: str | Path) -> str:
    """Say that a checkpoint cannot answer yet."""
    return (
        f"{preset} has no trained classifier. "
        "Train one: kerazoo finetune text-classification --preset …"
    )
