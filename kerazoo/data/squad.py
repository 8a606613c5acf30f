"""Questions of a JSON file: SQuAD v1 and v2, and CMRC 2018 in both of its layouts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kerazoo.axes import CONTEXT, QUESTION, QUESTION_ID
from kerazoo.data.question_record import QuestionRecord

_KEYS = {"query_id": QUESTION_ID, "query_text": QUESTION, "context_text": CONTEXT}
"""The names of CMRC's own layout, and SQuAD's."""

_EXPECTED = (
    'an object with "data", a list of articles with "paragraphs" (SQuAD, CMRC 2018), or a list of '
    'passages with "context_text" and "qas" (CMRC 2018)'
)


def squad_records(text: str, name: str) -> Iterator[QuestionRecord]:
    """Yield the questions of a file.

    Args:
        text: the whole file.
        name: the file's name, for the messages.

    Raises:
        ValueError: if it is no JSON or of another layout. The message names file and place.
    """
    number = 0
    for passage in _passages(_parsed(text, name), name):
        passage = _renamed(passage)
        questions = passage.get("qas")
        if not isinstance(questions, list):
            raise ValueError(
                f"{name}: the passage after question {number} has no list of questions, `qas`. "
                f"Received: keys={sorted(passage)}"
            )
        for question in questions:
            number += 1
            place = f"{name}, question {number}"
            if not isinstance(question, Mapping):
                raise ValueError(
                    f"{place}: a question must be an object. Received: {type(question).__name__}"
                )
            values = {CONTEXT: passage.get(CONTEXT), **_renamed(question)}
            yield QuestionRecord(number, place, values)


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{name}, line {error.lineno}: this is not JSON ({error.msg}, column {error.colno}). "
            f"Expected {_EXPECTED}."
        ) from error
    except RecursionError as error:
        raise ValueError(f"{name}: the JSON is nested too deeply.") from error


def _passages(content: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield objects with a context and `qas`."""
    articles = content.get("data") if isinstance(content, Mapping) else content
    if not isinstance(articles, list):
        raise ValueError(f"{name}: expected {_EXPECTED}. Received: {_described(content)}")
    for number, article in enumerate(articles, start=1):
        if not isinstance(article, Mapping) or not {"paragraphs", "qas"} & set(article):
            raise ValueError(
                f"{name}, article {number}: expected {_EXPECTED}. Received: {_described(article)}"
            )
        paragraphs = article.get("paragraphs", [article])
        if not isinstance(paragraphs, list) or not all(isinstance(p, Mapping) for p in paragraphs):
            raise ValueError(f"{name}, article {number}: `paragraphs` must be a list of objects.")
        yield from paragraphs


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_KEYS.get(key, key): value for key, value in values.items()}


def _described(content: Any) -> str:
    if isinstance(content, Mapping):
        return f"an object with the keys {', '.join(map(repr, content)) or '(none)'}"
    return type(content).__name__
