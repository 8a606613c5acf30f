"""Records of comma-separated text (RFC 4180): quoted fields may hold commas and line ends."""

import csv
from collections.abc import Iterable, Iterator

# The csv module's own limit, 131,072 characters, is shorter than a long document.
_FIELD_LIMIT = 2**31 - 1


def comma_separated(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of comma-separated lines; blank lines give empty records.

    Args:
        lines: (line number, text without its line end).
        name: the file's name, for the messages.

    Yields:
        (number of the record's first line, fields).

    Raises:
        ValueError: if a quoted field goes on after its closing quote or is never closed.
    """
    csv.field_size_limit(_FIELD_LIMIT)
    numbers: list[int] = []

    def texts() -> Iterator[str]:
        for number, text in lines:
            numbers.append(number)
            yield text + "\n"

    reader = csv.reader(texts(), strict=True)
    while True:
        numbers.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(_explained(error, name, numbers)) from error
        yield numbers[0], fields


def _explained(error: csv.Error, name: str, numbers: list[int]) -> str:
    """Say in which line a record went wrong."""
    if "unexpected end" in str(error):
        return (
            f"{name}, line {numbers[0]}: a quoted field begins here and is never closed. Close it "
            'with ", or write a quote inside a field as "".'
        )
    return (
        f"{name}, line {numbers[-1]}: this is not comma-separated text ({error}). Quote the whole "
        'field, and write a quote inside it as "".'
    )
