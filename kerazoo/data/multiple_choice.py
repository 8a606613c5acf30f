"""Multiple-choice questions of a JSONL file: {context, question, choices, label} on each line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from kerazoo.axes import CHOICES, CONTEXT, LABEL, QUESTION
from kerazoo.data.source_lines import check_is_no_folder, source_lines, source_name

_EXAMPLE = '{"context": "…", "question": "…", "choices": ["…", "…"], "label": 0}'


class ChoiceRow(NamedTuple):
    """One question.

    Attributes:
        line: int, the line of the file, from 1.
        texts: "context" and "question", those that are there.
        choices: the answers to choose from.
        label: int, the index of the right one; None if the file has no labels.
    """

    line: int
    texts: dict[str, str]
    choices: list[str]
    label: int | None


@dataclass(frozen=True)
class ChoiceTable:
    """The questions of a file, by column.

    Attributes:
        path: the file, as messages call it.
        columns: "choices" and, where the file has them, "context" and "question", as
            `MultipleChoice.fit` takes them.
        labels: the index of the right choice of each row; None if the file has no labels.
        lines: the line of the file on which each row stands.
    """

    path: str
    columns: dict[str, list[Any]]
    labels: list[int] | None
    lines: list[int]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)


def read_multiple_choice(path: str, with_labels: bool = True) -> ChoiceTable:
    """Read a whole file.

    Args:
        path: a JSONL file, plain or .gz; ``-`` is standard input.
        with_labels: bool, whether every row must have a label; False leaves labels out.

    Returns:
        The questions, by column, with their line numbers.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty or a line is not as expected. The message names the file
            and the line.
    """
    rows = list(multiple_choice_rows(path, with_labels))
    columns: dict[str, list[Any]] = {key: [row.texts[key] for row in rows] for key in rows[0].texts}
    columns[CHOICES] = [row.choices for row in rows]
    labels = [row.label for row in rows if row.label is not None] if with_labels else None
    return ChoiceTable(source_name(path), columns, labels, [row.line for row in rows])


def multiple_choice_rows(path: str, with_labels: bool = True) -> Iterator[ChoiceRow]:
    """Yield the rows of a file while it is read; see `read_multiple_choice`."""
    name = source_name(path)
    check_is_no_folder(path)
    first: ChoiceRow | None = None
    for line, text in source_lines(path):
        if not text.strip():
            continue
        where = f"{name}, line {line}"
        row = _row(_parsed(text, where), line, where, with_labels)
        first = first or row
        if row.texts.keys() != first.texts.keys():
            raise ValueError(
                f"{where}: this row has the texts {_listed(row.texts)}, line {first.line} has "
                f"{_listed(first.texts)}. Give every row the same keys."
            )
        yield row
    if first is None:
        raise ValueError(f"{name} is empty. Every line must be a JSON object like {_EXAMPLE}.")


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{where}: this is not JSON ({error}). Every line must be like {_EXAMPLE}."
        ) from error
    if not isinstance(record, dict):
        raise ValueError(
            f"{where}: a JSON object like {_EXAMPLE} was expected. "
            f"Received: {type(record).__name__}"
        )
    return record


def _row(record: dict[str, Any], line: int, where: str, with_labels: bool) -> ChoiceRow:
    choices = record.get(CHOICES)
    if not isinstance(choices, list) or len(choices) < 2:
        raise ValueError(
            f"{where}: `{CHOICES}` must be a list of two texts or more. "
            f"Received: {CHOICES}={choices!r}"
        )
    for choice in choices:
        _check_text(CHOICES, choice, where)
        if not choice:
            raise ValueError(f"{where}: a choice is empty. Received: {CHOICES}={choices!r}")
    texts = {key: record[key] for key in (CONTEXT, QUESTION) if record.get(key) is not None}
    for key, text in texts.items():
        _check_text(key, text, where)
    label = _label(record, len(choices), where) if with_labels else None
    return ChoiceRow(line, texts, choices, label)


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


def _check_text(key: str, value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{where}: `{key}` must be text. Received: {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where}: `{key}` holds half a surrogate pair, which is not a character. "
            f"Received: {value[error.start]!r}"
        ) from error


def _listed(texts: dict[str, str]) -> str:
    return ", ".join(f"`{key}`" for key in texts) or "none"
