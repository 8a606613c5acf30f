"""Next-sentence prediction: pairs of texts, and whether the second follows the first."""

from typing import Any

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.data.read_table import read_rows, read_table
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form
from kerazoo.training.forms.text_classification import TextClassificationForm

_NAMES = {"next": "next", "random": "random", "0": "next", "1": "random"}


def read_sentence_pairs(path: str) -> Table:
    """Read rows of `text`, `text_pair` and `label`: next or random, or 0 or 1.

    Returns:
        The rows, their labels as names.

    Raises:
        ValueError: for another label; the message names file and line.
    """
    table = read_table(path, required=(TEXT, TEXT_PAIR, LABEL), optional=())
    labels = table.columns[LABEL]
    for index, label in enumerate(labels):
        if label not in _NAMES:
            raise ValueError(
                f"{table.where(index)}: the label {label!r} is unknown. It is next (or 0) if the "
                "second text follows the first, random (or 1) if it comes from elsewhere."
            )
    columns = {**table.columns, LABEL: [_NAMES[label] for label in labels]}
    return Table(table.path, columns, table.lines)


class NextSentenceForm(TextClassificationForm):
    """Rows of `text`, `text_pair` and `label`, "next" or "random"."""

    task_name = "next-sentence"
    required_columns = (TEXT, TEXT_PAIR)

    def read_table(self, path: str) -> Table:
        """Read labelled pairs."""
        return read_sentence_pairs(path)

    def read_rows(self, path: str) -> Rows:
        """Yield pairs without labels."""
        return read_rows(path, required=(TEXT, TEXT_PAIR), optional=())

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Check that both files have pairs; their labels are known."""
        Form.check(self, train, validation, config)

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return nothing: the classes are always the same."""
        return {}
