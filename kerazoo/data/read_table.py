"""Read rows from any file: the ending of its name says what it is, standard input is looked at."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.data.delimited import delimited_rows
from kerazoo.data.jsonl import jsonl_rows
from kerazoo.data.row import Rows
from kerazoo.data.source_lines import (
    STANDARD_INPUT,
    check_is_no_folder,
    source_lines,
    source_name,
)
from kerazoo.data.table import Table
from kerazoo.data.text_lines import text_line_rows

_FORMATS = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "txt"}
_COLUMNS = (TEXT, TEXT_PAIR, LABEL)


def read_table(
    path: str, required: Sequence[str] = (TEXT, LABEL), optional: Sequence[str] = (TEXT_PAIR,)
) -> Table:
    """Read a whole file.

    Args:
        path: a .tsv, .csv, .jsonl or .txt file, each also with .gz; ``-`` is standard input.
        required: the columns that must be there; a .txt file has only `text`.
        optional: columns that are read if they are there.

    Returns:
        The rows, by column, with their line numbers.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is not what its ending says. The message names file and line.
    """
    return Table.from_rows(source_name(path), read_rows(path, required, optional))


def read_rows(
    path: str, required: Sequence[str] = (TEXT,), optional: Sequence[str] = (TEXT_PAIR,)
) -> Rows:
    """Yield the rows of a file while it is read; arguments and errors are those of `read_table`."""
    name = source_name(path)
    check_is_no_folder(path)
    lines = source_lines(path)
    if path == STANDARD_INPUT:
        kind, lines = _looked_at(lines)
    else:
        kind = _kind(path)
    if kind == "jsonl":
        yield from jsonl_rows(lines, name, required, optional)
    elif kind == "txt":
        if list(required) != [TEXT]:
            raise ValueError(_no_columns(name, required))
        yield from text_line_rows(lines, name)
    else:
        separator = "\t" if kind == "tsv" else ","
        yield from delimited_rows(lines, name, separator, required, optional)


def _kind(path: str) -> str:
    """Return the format that the ending of a file's name stands for."""
    plain = path.removesuffix(".gz").lower()
    for ending, kind in _FORMATS.items():
        if plain.endswith(ending):
            return kind
    raise ValueError(
        f"{path}: the ending of the name does not say what the file is. "
        f"Use one of {', '.join(_FORMATS)}, or one of these and .gz."
    )


def _looked_at(lines: Iterator[tuple[int, str]]) -> tuple[str, Iterator[tuple[int, str]]]:
    """Return the format that the first line of standard input shows, and all lines again."""
    first = next(lines, None)
    if first is None:
        return "txt", iter(())
    text = first[1]
    kind = "txt"
    if text.lstrip().startswith("{"):
        kind = "jsonl"
    elif TEXT in text.split("\t"):
        kind = "tsv"
    elif set(next(csv.reader([text]), [])) <= set(_COLUMNS) and "," in text:
        kind = "csv"
    return kind, chain([first], lines)


def _no_columns(name: str, required: Sequence[str]) -> str:
    """Say that plain text cannot give the columns that are needed."""
    listed = ", ".join(f"`{column}`" for column in required)
    return (
        f"{name}: plain text has no columns, and {listed} are needed. "
        "Give tab-separated text with a header, or JSON lines."
    )
