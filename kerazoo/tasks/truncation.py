"""What is said of texts that are longer than the rows of a task. Imports no framework."""

import warnings
from typing import Any


class TruncationWarning(UserWarning):
    """Says how many texts are truncated."""


def truncated_texts(count: int, rows: int, limit: int) -> str:
    """Return how many of the texts are truncated, as a sentence without its full stop.

    Args:
        count: int, how many, at least one.
        rows: int, texts in all.
        limit: int, tokens of a row.
    """
    verb = "is" if count == 1 else "are"
    return f"{count} of {rows} texts {verb} longer than {limit} tokens and {verb} truncated"


def warn_of_truncated(preprocessor: Any, columns: Any, rows: int) -> None:
    """Warn once of all texts that are truncated; nothing is said if there are none.

    Args:
        preprocessor: a `kerazoo.preprocessing.base.Preprocessor`; None says nothing.
        columns: tensors of all texts, or pairs, (rows,) string each.
        rows: int, how many there are.
    """
    if preprocessor is not None and (count := preprocessor.count_truncated(columns)):
        warnings.warn(
            f"{truncated_texts(count, rows, preprocessor.sequence_length)}. Raise the "
            "preprocessor's `sequence_length` to read more.",
            TruncationWarning,
            stacklevel=4,
        )
