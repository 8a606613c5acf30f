"""The columns that a file has to have, and what a row has to hold."""

import difflib
from collections.abc import Sequence

from kerazoo.axes import LABEL


def wanted_columns(
    found: Sequence[str], required: Sequence[str], optional: Sequence[str], where: str
) -> list[str]:
    """Return the columns to read: the required ones and those optional ones that are there.

    Args:
        found: the column names of the file.
        required: names that must be there.
        optional: names that may be there.
        where: the file and the line, for the message.

    Raises:
        ValueError: if a required column is missing or a wanted one is there twice.
    """
    for name in required:
        if name not in found:
            raise ValueError(_missing(name, found, where))
    wanted = [*required, *(name for name in optional if name in found)]
    for name in wanted:
        if list(found).count(name) > 1:
            raise ValueError(f"{where}: the column `{name}` is there twice. Rename one of them.")
    return wanted


def checked_label(label: str, where: str) -> str:
    """Return `label` without surrounding white space; an empty one raises ValueError."""
    stripped = label.strip()
    if not stripped:
        raise ValueError(f"{where}: the label is empty. Give every row a `{LABEL}`.")
    return stripped


def _missing(name: str, found: Sequence[str], where: str) -> str:
    """Say which column is missing, which ones were found, and what may have happened."""
    listed = ", ".join(repr(column) for column in found)
    message = f"{where}: the column `{name}` is missing; found {listed}."
    near = difflib.get_close_matches(name, [column.lower() for column in found], n=1, cutoff=0.7)
    if near:
        original = next(column for column in found if column.lower() == near[0])
        return f"{message} Rename {original!r} to '{name}'."
    if len(found) == 1 and any(mark in found[0] for mark in ",;\t"):
        return f"{message} The names seem to be separated otherwise: .tsv means tabs, .csv commas."
    return f"{message} Name it in the first line."
