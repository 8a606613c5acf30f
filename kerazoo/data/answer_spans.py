"""The right answers of a question, each checked against its passage."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kerazoo.axes import ANSWER, ANSWER_START, ANSWERS, CONTEXT
from kerazoo.data.jsonl import check_text

_IMPOSSIBLE = "is_impossible"
_SHOWN = 60


class AnswerSpan(NamedTuple):
    """One right answer.

    Attributes:
        text: the answer, a slice of the passage.
        start: int, the character of the passage at which it begins.
    """

    text: str
    start: int


def answer_spans(values: Mapping[str, Any], where: str) -> list[AnswerSpan]:
    """Return the answers of a question, none if it has none.

    Args:
        values: the question as it stands in the file: `context` and its answers, as `answers`, or
            `answer` and `answer_start`, or `is_impossible`.
        where: the file and the place in it, for messages.

    Raises:
        ValueError: if an answer is not in the passage, or not where it says, if answers are
            missing or of another form, or if there is one beside a true `is_impossible`.
    """
    if _is_impossible(values, where):
        _check_has_none(values, where)
        return []
    return [_span(item, values[CONTEXT], where) for item in _given(values, where)]


def _is_impossible(values: Mapping[str, Any], where: str) -> bool:
    """Return whether a question says that it has no answer."""
    said = values.get(_IMPOSSIBLE)
    if said is not None and not isinstance(said, bool):
        raise ValueError(
            f"{where}: `{_IMPOSSIBLE}` must be true or false, without quotation marks. "
            f"Received: {_IMPOSSIBLE}={said!r}"
        )
    return bool(said)


def _check_has_none(values: Mapping[str, Any], where: str) -> None:
    """Raise ValueError if a question that says it has no answer has one; empty ones are none."""
    if values.get(ANSWERS) is None and values.get(ANSWER) is None:
        return
    for item in _given(values, where):
        text = item.get("text") if isinstance(item, Mapping) else item
        if text is not None and str(text).strip():
            raise ValueError(
                f"{where}: `{_IMPOSSIBLE}` is true, and there is an answer. Take one of them out. "
                f"Received: {_cut(str(text))}"
            )


def _given(values: Mapping[str, Any], where: str) -> list[Any]:
    """Return the answers as they stand in the file, as a list."""
    given = values.get(ANSWERS)
    if given is None:
        if ANSWER not in values:
            raise ValueError(
                f"{where}: there are no `{ANSWERS}` and no `{ANSWER}`; a question without an "
                f'answer says "{_IMPOSSIBLE}": true. Received: keys={sorted(values)}'
            )
        start = values.get(ANSWER_START)
        given = [{"text": values[ANSWER], ANSWER_START: start}]
        if not values[ANSWER] and start in (None, -1):
            return []
    if isinstance(given, Mapping):  # as the `datasets` library writes them
        texts, starts = given.get("text"), given.get(ANSWER_START)
        if not isinstance(texts, list) or not isinstance(starts, list) or len(texts) != len(starts):
            raise ValueError(
                f"{where}: `{ANSWERS}` needs as many `text` as `{ANSWER_START}`. "
                f"Received: {ANSWERS}={given!r}"
            )
        given = [{"text": t, ANSWER_START: s} for t, s in zip(texts, starts, strict=True)]
    if not isinstance(given, list):
        raise ValueError(f"{where}: `{ANSWERS}` must be a list. Received: {ANSWERS}={given!r}")
    return given


def _span(item: Any, context: str, where: str) -> AnswerSpan:
    """Return a checked answer; one without a start is looked for in the passage."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise ValueError(f"{where}: an answer must be an object. Received: {item!r}")
    text, start = item.get("text"), item.get(ANSWER_START)
    check_text(ANSWER, text, where)
    if not text or text.isspace():
        raise ValueError(f"{where}: an answer is empty. Received: {ANSWER}={text!r}")
    found = context.find(text)
    if start is None:
        if found < 0:
            raise ValueError(f"{where}: the answer is not in its context. Received: {_cut(text)}")
        return AnswerSpan(text, found)
    if isinstance(start, bool) or not isinstance(start, int):
        raise ValueError(
            f"{where}: `{ANSWER_START}` must be a number of characters. "
            f"Received: {ANSWER_START}={start!r}"
        )
    if start < 0 or context[start : start + len(text)] != text:
        place = f"it begins at {found}" if found >= 0 else "it is nowhere in it"
        raise ValueError(
            f"{where}: the answer does not begin at character {start} of its context; {place}. "
            f"Received: {_cut(text)}"
        )
    return AnswerSpan(text, start)


def _cut(text: str) -> str:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return f"{ANSWER}={shown!r}"
