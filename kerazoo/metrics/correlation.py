"""How well scores follow the true ones: Pearson's r, Spearman's ρ, mean squared error."""

import numpy as np
from numpy.typing import ArrayLike


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Return Pearson's correlation of two columns; 0 if one of them does not vary.

    Args:
        first: (rows,) numbers.
        second: (rows,) numbers.
    """
    a, b = (np.asarray(column, dtype="float64") for column in (first, second))
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / norm) if norm > 0 else 0.0


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Return Spearman's rank correlation; equal numbers share the mean of their ranks.

    Args:
        first: (rows,) numbers.
        second: (rows,) numbers.
    """
    return pearson(_ranks(first), _ranks(second))


def correlation_report(expected: ArrayLike, answered: ArrayLike) -> dict[str, float]:
    """Compare scores with the true ones.

    Args:
        expected: (rows,) the true scores, at least one.
        answered: (rows,) the scores that were answered.

    Returns:
        `rows`, `pearson`, `spearman` and `loss`, the mean squared error.

    Raises:
        ValueError: if the two differ in length, or are empty.
    """
    truth, answers = np.asarray(expected, dtype="float64"), np.asarray(answered, dtype="float64")
    if truth.shape != answers.shape or not truth.size:
        raise ValueError(
            "Every row needs a true score and an answer, and there must be a row. "
            f"Received: {truth.size} true scores, {answers.size} answers"
        )
    error = answers - truth
    return {
        "rows": truth.size,
        "pearson": pearson(expected, answered),
        "spearman": spearman(expected, answered),
        "loss": float((error * error).mean()),
    }


def _ranks(values: ArrayLike) -> np.ndarray:
    _, group, counts = np.unique(
        np.asarray(values, dtype="float64"), return_inverse=True, return_counts=True
    )
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group]
