"""One row of a text file: its line number and its values by column name."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of a file.

    Attributes:
        line: int, the line of the file on which the row begins, from 1.
        values: the row's values by column name: strings, but for the choices of a question.
        unit: what `line` counts, if not lines: the questions of a JSON file.
    """

    line: int
    values: dict[str, Any]
    unit: str = "line"

    def where(self, name: str | None) -> str:
        """Return the row's place for a message.

        Args:
            name: the file, as messages call it; None if the row is of no file.
        """
        place = f"{self.unit} {self.line}"
        return place if name is None else f"{name}, {place}"


Rows = Iterator[Row]
