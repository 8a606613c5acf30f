"""One row of a text file: its line number and its values by column name."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of a file.

    Attributes:
        line: int, the line of the file on which the row begins, from 1.
        values: the row's values by column name: strings, but for the choices of a question.
    """

    line: int
    values: dict[str, Any]


Rows = Iterator[Row]
