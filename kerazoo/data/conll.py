"""Sentences of a file with a word a line and its tag in the last column, as CoNLL's tasks had."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_DOCUMENT_START = "-DOCSTART-"


class Sentence(NamedTuple):
    """The lines between two blank ones.

    Attributes:
        line: int, the line of the file on which it begins, from 1.
        words: the first column.
        tags: the last column; none if the file has words alone.
        problem: str, what is wrong with its columns, "" for nothing.
    """

    line: int
    words: list[str]
    tags: list[str]
    problem: str = ""


def conll_sentences(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Sentence]:
    """Yield the sentences of a file.

    Columns are separated by tabs, or, in lines without any, by spaces. Lines that begin with
    -DOCSTART- end a sentence and are passed over.

    Args:
        lines: (line number, text without its line end).
        name: the file's name, for the messages.
    """
    columns: int | None = None
    rows: list[tuple[int, list[str]]] = []
    for number, text in lines:
        cells = _cells(text)
        if cells and cells[0] != _DOCUMENT_START:
            columns = columns or len(cells)
            rows.append((number, cells))
        elif rows:
            yield _sentence(rows, columns or 0, name)
            rows = []
    if rows:
        yield _sentence(rows, columns or 0, name)


def _cells(text: str) -> list[str]:
    """Return the columns of a line; none for a blank one."""
    if "\t" in text:
        cells = [cell.strip(" ") for cell in text.split("\t")]
        return cells if any(cells) else []
    # Not `str.split`, which splits words at characters such as U+00A0 too.
    return [cell for cell in re.split(" +", text) if cell]


def _sentence(rows: list[tuple[int, list[str]]], columns: int, name: str) -> Sentence:
    words = [cells[0] for _, cells in rows]
    tags = [cells[-1] for _, cells in rows] if columns > 1 else []
    problem = ""
    for number, cells in rows:
        if len(cells) != columns:
            many = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            problem = (
                f"{name}, line {number}: this line has {many}, and the first one of the file "
                f"{columns}; every line must have as many. Received: {' '.join(cells)!r}"
            )
        elif not all((cells[0], cells[-1])):
            problem = f"{name}, line {number}: the word or its tag is empty."
        if problem:
            break
    return Sentence(rows[0][0], words, tags, problem)
