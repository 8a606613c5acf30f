"""Questions about passages from any file, each answer checked against its passage."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from kerazoo.axes import ANSWERS, CONTEXT, QUESTION, QUESTION_ID
from kerazoo.data.answer_spans import answer_spans
from kerazoo.data.jsonl import check_text, parsed_object
from kerazoo.data.question_record import QuestionRecord
from kerazoo.data.row import Row, Rows
from kerazoo.data.source_lines import (
    STANDARD_INPUT,
    check_is_no_folder,
    source_lines,
    source_name,
)
from kerazoo.data.squad import squad_records
from kerazoo.data.table import Table

_EXAMPLE = '{"context": "…", "question": "…", "answer": "…", "answer_start": 0}'


def read_questions(path: str, strict: bool = False) -> Table:
    """Read a whole file with answers.

    Args:
        path: SQuAD's JSON (v1 or v2), CMRC 2018's, or JSONL with `context`, `question` and
            `answers`, or `answer` and `answer_start`; plain or .gz; ``-`` is standard input.
        strict: bool, whether a bad question is an error; else it is left out, and the table's
            `skipped` says which and why.

    Returns:
        The questions by column: `context`, `question`, `answers` (lists of `AnswerSpan`, none for
        a question without an answer) and `id`, "" where the file gives none.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is of another layout, holds no good question, or, if `strict`, a
            bad one. The message names the file and the place.
    """
    skipped: list[str] = []
    name = source_name(path)
    unit, records = _records(path)
    rows = list(_rows(records, unit, True, None if strict else skipped))
    if not rows:
        raise ValueError(
            f"{name}: none of its questions can be used ({len(skipped)}); the first: {skipped[0]}"
            if skipped
            else f"{name} holds no question. Expected SQuAD's JSON, or lines like {_EXAMPLE}."
        )
    table = Table.from_rows(name, rows)
    return Table(name, table.columns, table.lines, unit, tuple(skipped))


def question_rows(path: str, with_answers: bool, skipped: list[str] | None = None) -> Rows:
    """Return the questions of a file one by one; see `read_questions`.

    Args:
        path: the file.
        with_answers: bool, whether every question must have answers; False leaves answers out,
            and a passage may be empty.
        skipped: where to say which bad questions were left out; None makes each an error.
    """
    unit, records = _records(path)
    return _rows(records, unit, with_answers, skipped)


def _rows(
    records: Iterable[QuestionRecord], unit: str, with_answers: bool, skipped: list[str] | None
) -> Rows:
    first_of: dict[str, int] = {}
    for record in records:
        try:
            values = _checked(record, with_answers)
            if with_answers:
                _check_is_first(record, unit, first_of)
        except ValueError as error:
            if skipped is None:
                raise
            skipped.append(str(error))
        else:
            yield Row(record.number, values, unit)


def _check_is_first(record: QuestionRecord, unit: str, first_of: dict[str, int]) -> None:
    """Raise ValueError if an earlier question has the id, else note whose it is."""
    first = first_of.setdefault(record.question_id, record.number)
    if record.question_id and first != record.number:
        raise ValueError(
            f"{record.where}: the id is already that of {unit} {first}. "
            f"Give every question its own. Received: {QUESTION_ID}={record.question_id!r}"
        )


def _records(path: str) -> tuple[str, Iterator[QuestionRecord]]:
    """Return what the questions of a file are counted by, "line" or "question", and they."""
    name = source_name(path)
    check_is_no_folder(path)
    lines = source_lines(path)
    if path == STANDARD_INPUT:
        first = next(lines, (1, ""))
        is_lines, lines = _is_row(first[1]), chain([first], lines)
    else:
        is_lines = _is_lines(path)
    if is_lines:
        return "line", _line_records(lines, name)
    return "question", squad_records("\n".join(text for _, text in lines), name)


def _is_lines(path: str) -> bool:
    """Return whether a file has a question on each line; ValueError for an unknown ending."""
    plain = path.removesuffix(".gz").lower()
    if plain.endswith(".json"):
        return False
    if plain.endswith((".jsonl", ".ndjson")):
        return True
    raise ValueError(
        f"{path}: the ending of the name does not say what the file is. Use .json (SQuAD, CMRC "
        "2018) or .jsonl (a question a line), or one of these and .gz."
    )


def _is_row(line: str) -> bool:
    """Return whether a line is a JSON object with a question of its own."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, Mapping) and QUESTION in content


def _line_records(lines: Iterable[tuple[int, str]], name: str) -> Iterator[QuestionRecord]:
    for line, text in lines:
        if text.strip():
            place = f"{name}, line {line}"
            yield QuestionRecord(line, place, parsed_object(text, place, _EXAMPLE))


def _checked(record: QuestionRecord, with_answers: bool) -> dict[str, Any]:
    """Return the row's values, or raise ValueError for a bad row."""
    where, values = record.where, record.values
    for key in (CONTEXT, QUESTION):
        if values.get(key) is None:
            raise ValueError(f"{where}: `{key}` is missing. Received: keys={sorted(values)}")
        check_text(key, values[key], where)
    row = {
        QUESTION_ID: record.question_id,
        CONTEXT: values[CONTEXT],
        QUESTION: values[QUESTION],
    }
    if not with_answers:
        return row
    for key in (CONTEXT, QUESTION):
        if not values[key].strip():
            raise ValueError(f"{where}: the {key} is empty, so there is nothing to learn from it.")
    return {**row, ANSWERS: answer_spans(values, where)}
