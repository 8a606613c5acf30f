"""What is said of texts that are longer than the rows of a task."""

import warnings
from typing import Any

from kerazoo.data.row_order import row_count


class TruncationWarning(UserWarning):
    """Says how many texts are truncated."""


def warn_of_truncated(preprocessor: Any, columns: Any) -> None:
    """Warn once of all texts that are truncated; nothing is said if there are none.

    Args:
        preprocessor: a `kerazoo.preprocessing.base.Preprocessor`; None says nothing.
        columns: tensors of all texts, or pairs, (rows,) string each.
    """
    if preprocessor is not None and (count := preprocessor.count_truncated(columns)):
        verb = "is" if count == 1 else "are"
        warnings.warn(
            f"{count} of {row_count(columns)} texts {verb} longer than "
            f"{preprocessor.sequence_length} tokens and {verb} truncated. Raise the "
            "preprocessor's `sequence_length` to read more.",
            TruncationWarning,
            stacklevel=4,
        )
