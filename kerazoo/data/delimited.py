"""Rows of a TSV or CSV file whose first line names the columns."""

from collections.abc import Iterable, Sequence

from kerazoo.axes import LABEL
from kerazoo.data.columns import checked_label, wanted_columns
from kerazoo.data.comma_separated import comma_separated
from kerazoo.data.row import Row, Rows
from kerazoo.data.tab_separated import tab_separated


def delimited_rows(
    lines: Iterable[tuple[int, str]],
    name: str,
    separator: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
) -> Rows:
    r"""Yield the rows of a TSV or CSV file with a header.

    Columns that were not asked for are left out. Blank lines are passed over, except in a file of
    one column, where they are empty texts.

    Args:
        lines: (line number, text without its line end).
        name: the file's name, for the messages.
        separator: ``"\t"`` or ``","``.
        required: the columns that must be there.
        optional: columns that are read if they are there.

    Yields:
        Rows with the wanted columns.

    Raises:
        ValueError: if the file is empty, a column is missing, or a row has too few or too many
            columns or an empty label. The message names the file and the line.
    """
    records = tab_separated(lines) if separator == "\t" else comma_separated(lines, name)
    first = next((record for record in records if any(record[1])), None)
    if first is None:
        raise ValueError(
            f"{name} is empty. Its first line must name the columns: {_listed(required, optional)}."
        )
    header = [column.strip() for column in first[1]]
    wanted = wanted_columns(header, required, optional, f"{name}, line {first[0]}")
    positions = {column: header.index(column) for column in wanted}
    for line, fields in records:
        if len(fields) <= 1 and not any(fields):
            if len(header) > 1:
                continue
            fields = [""]
        if len(fields) != len(header):
            raise ValueError(_wrong_width(f"{name}, line {line}", len(fields), header, separator))
        values = {column: fields[position] for column, position in positions.items()}
        if LABEL in values:
            values[LABEL] = checked_label(values[LABEL], f"{name}, line {line}")
        yield Row(line, values)


def _wrong_width(where: str, width: int, header: list[str], separator: str) -> str:
    """Say that a row has too few or too many columns."""
    few = "too few" if width < len(header) else "too many"
    mark = "tab" if separator == "\t" else "comma"
    remedy = (
        f"Put a {mark} between the columns."
        if width < len(header)
        else f'Quote a field that holds a {mark}, like "this".'
    )
    return (
        f"{where}: {few} columns: {width} instead of {len(header)} ({', '.join(header)}). {remedy}"
    )


def _listed(required: Sequence[str], optional: Sequence[str]) -> str:
    """List column names, the optional ones in brackets."""
    return ", ".join([*required, *(f"[{name}]" for name in optional)])
