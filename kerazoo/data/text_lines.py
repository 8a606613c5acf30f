"""Rows of a plain text file: every line is one text."""

from collections.abc import Iterable

from kerazoo.axes import TEXT
from kerazoo.data.row import Row, Rows


def text_line_rows(lines: Iterable[tuple[int, str]], name: str) -> Rows:
    """Yield every line as a text; an empty line is an empty text.

    Args:
        lines: (line number, text without its line end).
        name: the file's name, for the messages.

    Yields:
        Rows with the column `text`.

    Raises:
        ValueError: if there is no line.
    """
    line = 0
    for line, text in lines:
        yield Row(line, {TEXT: text})
    if not line:
        raise ValueError(f"{name} is empty. Give it a text a line.")
