"""Records of tab-separated text, quoted or not."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator

# A quoted field that spans more lines than this is taken for text that begins with a quote.
_LONGEST_FIELD_LINES = 1000


def tab_separated(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of tab-separated lines; blank lines give one empty field.

    Spreadsheets quote a field that holds a tab, a quote or a line end, and double the quotes in
    it; many corpora quote nothing, and their texts begin with a quote when somebody speaks. So a
    field is unquoted only where that reading is whole: the closing quote is followed by a tab or
    the end of the line. A quote that is still open at the end of its line goes on in the next ones
    only if these lines are not complete rows by themselves. Everything else is plain text.

    Args:
        lines: (line number, text without its line end).

    Yields:
        (number of the record's first line, fields).
    """
    width = 0
    ahead = _LookAhead(lines)
    while (first := ahead.take()) is not None:
        number, text = first
        fields = text.split("\t")
        if any(field.startswith('"') for field in fields):
            unquoted = _read_on(text, ahead, width) if text.count('"') % 2 else _unquoted(text)
            fields = unquoted or fields
        width = width or len(fields)
        yield number, fields


class _LookAhead:
    """Lines that may be put back after a look at them."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._source = iter(lines)
        self._put_back: deque[tuple[int, str]] = deque()

    def take(self) -> tuple[int, str] | None:
        """Return the next line; None at the end."""
        return self._put_back.popleft() if self._put_back else next(self._source, None)

    def put_back(self, lines: list[tuple[int, str]]) -> None:
        """Make `lines` the next ones."""
        self._put_back.extendleft(reversed(lines))


def _read_on(text: str, ahead: _LookAhead, width: int) -> list[str] | None:
    """Read a field whose quote is open on into the next lines; None if it is plain text."""
    taken: list[tuple[int, str]] = []
    whole_rows = len(text.split("\t")) == width
    while len(taken) < _LONGEST_FIELD_LINES and (following := ahead.take()) is not None:
        taken.append(following)
        whole_rows = whole_rows and len(following[1].split("\t")) == width
        if following[1].count('"') % 2:
            joined = "\n".join([text, *(line for _, line in taken)])
            fields = None if whole_rows else _unquoted(joined)
            if fields:
                return fields
            break
    ahead.put_back(taken)
    return None


def _unquoted(text: str) -> list[str] | None:
    """Split one record by the rules of quoting; None if it does not follow them."""
    try:
        lines = [line + "\n" for line in text.split("\n")]
        records = list(csv.reader(lines, "excel-tab", strict=True))
    except csv.Error:
        return None
    return records[0] if len(records) == 1 else None
