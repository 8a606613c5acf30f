"""Accuracy, macro F1, and each label's precision, recall and F1."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def classification_report(
    expected: Sequence[str], answered: Sequence[str], labels: Sequence[str]
) -> dict[str, Any]:
    """Compare answers with the truth.

    Precision is the share of a label's answers that are right, recall the share of its rows that
    were found, F1 = 2 * precision * recall / (precision + recall); a share of nothing is 0. Macro
    F1 is the mean F1 of the labels that occur as truth or as answer, as in scikit-learn.

    Args:
        expected: (rows,) the true labels.
        answered: (rows,) the labels that were answered.
        labels: every label, in the order in which to report them.

    Returns:
        A dict that JSON can hold: `rows`, `accuracy`, `macro_f1`, `labels` (for each label
        `precision`, `recall`, `f1` and `support`, its true rows), and `confusion` (a row of counts
        for each true label, a column for each answered one).

    Raises:
        ValueError: if there are no rows, the two differ in length, or a label is unknown.
    """
    if len(expected) != len(answered) or not len(expected):
        raise ValueError(
            "Every row needs a true label and an answer, and there must be a row. "
            f"Received: {len(expected)} true labels, {len(answered)} answers"
        )
    number = {label: index for index, label in enumerate(labels)}
    unknown = sorted({*expected, *answered} - set(number))
    if unknown:
        raise ValueError(
            f"Unknown label; known are {', '.join(labels)}. Received: label={unknown[0]!r}"
        )
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, ([number[e] for e in expected], [number[a] for a in answered]), 1)

    right = confusion.diagonal()
    support = confusion.sum(axis=1)
    answers = confusion.sum(axis=0)
    precision = _share(right, answers)
    recall = _share(right, support)
    f1 = _share(2 * right, support + answers)
    occurring = support + answers > 0
    return {
        "rows": len(expected),
        "accuracy": float(right.sum() / len(expected)),
        "macro_f1": float(f1[occurring].mean()),
        "labels": {
            label: {
                "precision": float(precision[i]),
                "recall": float(recall[i]),
                "f1": float(f1[i]),
                "support": int(support[i]),
            }
            for i, label in enumerate(labels)
        },
        "confusion": confusion.tolist(),
    }


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
