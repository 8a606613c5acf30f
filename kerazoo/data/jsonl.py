"""Rows of a JSONL file: one JSON object a line."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kerazoo.axes import LABEL
from kerazoo.data.columns import checked_label
from kerazoo.data.row import Row, Rows


def jsonl_rows(
    lines: Iterable[tuple[int, str]],
    name: str,
    required: Sequence[str],
    optional: Sequence[str] = (),
) -> Rows:
    """Yield the rows of a JSONL file.

    Texts are strings; a label is a string or a whole number. An optional key is in every row or in
    none. Other keys are left out, blank lines are passed over.

    Args:
        lines: (line number, text without its line end).
        name: the file's name, for the messages.
        required: the keys that must be in every row.
        optional: keys that are read if they are there.

    Yields:
        Rows with the wanted keys.

    Raises:
        ValueError: if the file is empty, a line is not a JSON object, or a key is missing, of the
            wrong type or an empty label. The message names the file and the line.
    """
    wanted: list[str] | None = None
    for line, text in lines:
        if not text.strip():
            continue
        where = f"{name}, line {line}"
        record = parsed_object(text, where, _example(["text"]))
        if wanted is None:
            wanted = [*required, *(key for key in optional if record.get(key) is not None)]
            first = line
        _check_keys(record, wanted, optional, where, first)
        yield Row(line, {key: _string(key, record[key], where) for key in wanted})
    if wanted is None:
        raise ValueError(
            f"{name} is empty. Every line must be a JSON object like {_example(required)}."
        )


def parsed_object(text: str, where: str, example: str) -> dict[str, Any]:
    """Return the JSON object on a line.

    Args:
        text: the line.
        where: the file and the line, for the message.
        example: what an object looks like, for the message.

    Raises:
        ValueError: if the line is something else.
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{where}: this is not JSON ({error.msg}, column {error.colno}). "
            "Every line must be one JSON object."
        ) from error
    except ValueError as error:
        raise ValueError(f"{where}: a number has too many digits.") from error
    except RecursionError as error:
        raise ValueError(f"{where}: the JSON is nested too deeply.") from error
    if not isinstance(record, dict):
        raise ValueError(
            f"{where}: a JSON object was expected, like {example}. "
            f"Received: {type(record).__name__}"
        )
    return record


def _check_keys(
    record: dict[str, Any], wanted: list[str], optional: Sequence[str], where: str, first: int
) -> None:
    """Raise ValueError if a row lacks a key, or has an optional one that the first row lacks."""
    for key in wanted:
        if key not in record:
            found = ", ".join(repr(name) for name in record) or "none"
            raise ValueError(f"{where}: the key `{key}` is missing; found {found}. Add it.")
    for key in optional:
        if key not in wanted and record.get(key) is not None:
            raise ValueError(
                f"{where}: this row has the key `{key}`, line {first} has none. "
                "Give it to every row or to none."
            )


def _string(key: str, value: Any, where: str) -> str:
    """Return a value as a string, or raise ValueError."""
    if key == LABEL and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    check_text(key, value, where)
    return checked_label(value, where) if key == LABEL else str(value)


def check_text(key: str, value: Any, where: str) -> None:
    """Raise ValueError unless a value is a string of whole characters.

    Args:
        key: the value's key, for the message.
        value: what stands there.
        where: the file and the line, for the message.
    """
    if not isinstance(value, str):
        expected = "a string or a whole number" if key == LABEL else "a string"
        raise ValueError(f"{where}: `{key}` must be {expected}. Received: {key}={value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where}: `{key}` holds half a surrogate pair, which is not a character. "
            f"Received: {value[error.start]!r}"
        ) from error


def _example(keys: Sequence[str]) -> str:
    """Return a JSON object with these keys."""
    return json.dumps({key: "…" for key in keys}, ensure_ascii=False)
