"""The labels of training rows, and rows whose labels nobody taught."""

from collections import Counter
from collections.abc import Sequence

from kerazoo.axes import LABEL
from kerazoo.data.table import Table

_SHOWN = 12


def label_names(table: Table) -> list[str]:
    """Return the labels of a table in order: whole numbers by value, other names by alphabet.

    Raises:
        ValueError: if there are fewer than two.
    """
    names = sorted(set(table.columns[LABEL]))
    if len(names) < 2:
        raise ValueError(
            f"{table.path}: every row has the label {names[0]!r}; to learn something, a model "
            "needs rows of at least two labels."
        )
    if all(name.isdecimal() for name in names):
        names.sort(key=lambda name: (int(name), name))
    return names


def check_known_labels(table: Table, labels: Sequence[str]) -> None:
    """Raise ValueError if a row has a label that is not among `labels`."""
    known = set(labels)
    for index, label in enumerate(table.columns[LABEL]):
        if label not in known:
            shown = ", ".join(labels[:_SHOWN]) + (", …" if len(labels) > _SHOWN else "")
            raise ValueError(
                f"{table.where(index)}: the label {label!r} is unknown; the model knows {shown}. "
                "Correct the label or remove the row."
            )


def balanced_weights(labels: Sequence[str]) -> dict[str, float]:
    """Return for each label rows / (labels * rows of the label): every label weighs the same."""
    counts = Counter(labels)
    return {label: len(labels) / (len(counts) * count) for label, count in counts.items()}
