"""Questions about passages, and their answers, as users pass them, checked row by row."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import ANSWER, ANSWER_START, CONTEXT, QUESTION
from kerazoo.tasks.text_tensor import text_tensor


def is_raw_questions(x: Any) -> bool:
    """Return whether `x` is questions in memory: a dict of columns, or a list of dicts."""
    if isinstance(x, Mapping):
        return QUESTION in x or CONTEXT in x
    return isinstance(x, (list, tuple)) and all(isinstance(row, Mapping) for row in x)


def question_columns(x: Any) -> dict[str, tf.Tensor]:
    """Return questions as columns.

    Args:
        x: dict of "question" and "context", for each row a text; or a list of such dicts of one row
            each, in which "answer" and "answer_start" may stand too.

    Returns:
        dict of "question" and "context", each (rows,) string.

    Raises:
        ValueError: if a key is missing or unknown, a row has no text, or the columns differ in
            length; the message names the row.
    """
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        raise ValueError(
            f"Questions come with their contexts, as a dict of {QUESTION!r} and {CONTEXT!r} or "
            f"as a list of such dicts. Received: {x!r}"
        )
    columns = dict(x) if isinstance(x, Mapping) else _transposed(x, (QUESTION, CONTEXT))
    if set(columns) != {QUESTION, CONTEXT}:
        raise ValueError(
            f"Extractive QA reads the keys {QUESTION!r} and {CONTEXT!r}. "
            f"Received: keys={sorted(columns)}"
        )
    texts = {key: _texts(key, columns[key]) for key in (QUESTION, CONTEXT)}
    sizes = {key: int(column.shape[0]) for key, column in texts.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Every question needs its context. Received: rows={sizes}")
    return texts


def answer_columns(y: Any, contexts: tf.Tensor) -> dict[str, tf.Tensor]:
    """Return answers as columns.

    Args:
        y: dict of "answer", for each row a text, and "answer_start", for each row the character of
            the context at which it begins, -1 for no answer; or a list of such dicts of one row
            each; or a list of pairs `(answer, answer_start)`, None for no answer.
        contexts: (rows,) string.

    Returns:
        dict of "answer", (rows,) string, and "answer_start", (rows,) int32.

    Raises:
        ValueError: for another number of rows, or an answer that is not the slice of its context
            that begins at its start; the message names the row.
    """
    if isinstance(y, Mapping):
        columns = dict(y)
    else:
        columns = _transposed([_answer_row(row, item) for row, item in enumerate(y)], _ANSWER_KEYS)
    if set(columns) != set(_ANSWER_KEYS):
        raise ValueError(
            f"Answers come under the keys {ANSWER!r} and {ANSWER_START!r}. "
            f"Received: keys={sorted(columns)}"
        )
    answers = _texts(ANSWER, columns[ANSWER])
    starts = np.asarray(columns[ANSWER_START])
    rows = int(contexts.shape[0])
    if answers.shape != (rows,) or starts.shape != (rows,):
        raise ValueError(
            f"There must be one answer for each of the {rows} questions. "
            f"Received: {answers.shape[0]} answers, {starts.size} starts"
        )
    if rows and starts.dtype.kind not in "iu":
        raise ValueError(
            f"`{ANSWER_START}` counts characters. Received: dtype {starts.dtype} in {ANSWER_START}"
        )
    _check_slices(answers, starts, contexts)
    return {ANSWER: answers, ANSWER_START: tf.constant(starts, tf.int32)}


_ANSWER_KEYS = (ANSWER, ANSWER_START)


def _check_slices(answers: tf.Tensor, starts: np.ndarray, contexts: tf.Tensor) -> None:
    columns = zip(answers.numpy(), starts.tolist(), contexts.numpy(), strict=True)
    for row, (answer, start, context) in enumerate(columns):
        text, passage = answer.decode(errors="replace"), context.decode(errors="replace")
        if start < 0 and not text:
            continue
        found = passage[start : start + len(text)] if start >= 0 else None
        if text.isspace():
            raise ValueError(
                f"Row {row}: an answer of white space alone is none; None says that there is none. "
                f"Received: {ANSWER}={text!r}, {ANSWER_START}={start}"
            )
        if not text or found != text:
            raise ValueError(
                f"Row {row}: the answer is not the slice of its context that begins at "
                f"{ANSWER_START}, counted in characters. "
                f"Received: {ANSWER}={text!r}, {ANSWER_START}={start}, slice={found!r}"
            )


def _answer_row(row: int, item: Any) -> Mapping[str, Any]:
    if item is None:
        return {ANSWER: "", ANSWER_START: -1}
    if isinstance(item, Mapping):
        return item
    if isinstance(item, (tuple, list)) and len(item) == 2:
        return dict(zip(_ANSWER_KEYS, item, strict=True))
    raise ValueError(
        f"Row {row}: an answer is a dict of {ANSWER!r} and {ANSWER_START!r}, a pair of these, or "
        f"None. Received: y={item!r}"
    )


def _transposed(rows: Iterable[Mapping[str, Any]], keys: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return some keys of rows as columns."""
    rows = list(rows)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"Row {number} is no dict of {' and '.join(keys)}. Received: {row!r}")
        missing = [key for key in keys if key not in row]
        if missing:
            raise ValueError(f"Row {number} lacks {missing[0]!r}. Received: keys={sorted(row)}")
    return {key: [row[key] for row in rows] for key in keys}


def _texts(key: str, value: Any) -> tf.Tensor:
    """Return a column of texts, (rows,) string."""
    if tf.is_tensor(value):
        return value
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(f"Pass a list of texts, even for one. Received: {key}={value!r}")
    rows = list(value)
    for row, item in enumerate(rows):
        if not isinstance(item, (str, bytes)):
            raise ValueError(f"Row {row} of `{key}` is not a text. Received: {item!r}")
    return text_tensor(rows)
