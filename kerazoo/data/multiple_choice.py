"""Multiple-choice questions of a JSONL file: {context, question, choices, label} on each line."""

from typing import Any

from kerazoo.axes import CHOICES, CONTEXT, LABEL, QUESTION
from kerazoo.data.jsonl import check_text, parsed_object
from kerazoo.data.row import Row, Rows
from kerazoo.data.source_lines import check_is_no_folder, source_lines, source_name
from kerazoo.data.table import Table

_EXAMPLE = '{"context": "…", "question": "…", "choices": ["…", "…"], "label": 0}'


def read_multiple_choice(path: str) -> Table:
    """Read a whole file with labels.

    Args:
        path: a JSONL file, plain or .gz; ``-`` is standard input.

    Returns:
        The questions by column: `choices` (lists of str), `label` (int, the index of the right
        one) and, where the file has them, `context` and `question`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty or a line is not as expected. The message names the file
            and the line.
    """
    return Table.from_rows(source_name(path), multiple_choice_rows(path))


def multiple_choice_rows(path: str, with_labels: bool = True) -> Rows:
    """Yield the rows of a file while it is read; see `read_multiple_choice`.

    Args:
        path: a JSONL file, plain or .gz; ``-`` is standard input.
        with_labels: bool, whether every row must have a label; False leaves labels out.
    """
    name = source_name(path)
    check_is_no_folder(path)
    first: Row | None = None
    for line, text in source_lines(path):
        if not text.strip():
            continue
        where = f"{name}, line {line}"
        row = Row(line, _values(parsed_object(text, where, _EXAMPLE), where, with_labels))
        first = first or row
        if row.values.keys() != first.values.keys():
            raise ValueError(
                f"{where}: this row has {_listed(row)}, line {first.line} has {_listed(first)}. "
                "Give every row the same keys."
            )
        yield row
    if first is None:
        raise ValueError(f"{name} is empty. Every line must be a JSON object like {_EXAMPLE}.")


def _values(record: dict[str, Any], where: str, with_labels: bool) -> dict[str, Any]:
    choices = record.get(CHOICES)
    if not isinstance(choices, list) or len(choices) < 2:
        raise ValueError(
            f"{where}: `{CHOICES}` must be a list of two texts or more. "
            f"Received: {CHOICES}={choices!r}"
        )
    for choice in choices:
        check_text(CHOICES, choice, where)
        if not choice:
            raise ValueError(f"{where}: a choice is empty. Received: {CHOICES}={choices!r}")
    values = {key: record[key] for key in (CONTEXT, QUESTION) if record.get(key) is not None}
    for key, text in values.items():
        check_text(key, text, where)
    label = {LABEL: _label(record, len(choices), where)} if with_labels else {}
    return {**values, CHOICES: choices, **label}


def _label(record: dict[str, Any], count: int, where: str) -> int:
    label = record.get(LABEL)
    if isinstance(label, str) and label.strip().isdecimal():
        label = int(label)
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < count:
        raise ValueError(
            f"{where}: `{LABEL}` must be the index of the right choice, 0 to {count - 1}. "
            f"Received: {LABEL}={record.get(LABEL)!r}"
        )
    return label


def _listed(row: Row) -> str:
    return ", ".join(f"`{key}`" for key in row.values)
