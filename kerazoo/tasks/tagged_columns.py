"""Texts or words, and their tags or entities, as users pass them, checked row by row."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT, WORDS
from kerazoo.checks import is_whole_number
from kerazoo.preprocessing.token_classifier import ENTITY_ENDS, ENTITY_STARTS, ENTITY_TYPES
from kerazoo.tasks.text_tensor import text_tensor

_ENTITY_KEYS = ("start", "end", "type")


def is_raw_tagged(x: Any) -> bool:
    """Return whether `x` is texts or words in memory: a dict of one column, or a list."""
    if isinstance(x, Mapping):
        return TEXT in x or WORDS in x
    if tf.is_tensor(x) or isinstance(x, tf.RaggedTensor):
        return bool(x.dtype == tf.string)
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "OUS"
    return isinstance(x, (str, Sequence)) or type(x).__name__ == "Series"


def tagged_columns(x: Any) -> dict[str, tf.Tensor | tf.RaggedTensor]:
    """Return texts or words as a column.

    Args:
        x: a list of texts or {"text": texts}; or a list of lists of words or {"words": lists}.

    Returns:
        dict of "text", (rows,) string, or of "words", (rows, words) string, ragged.

    Raises:
        ValueError: if the key is another one, or a row is neither; the message names the row.
    """
    if isinstance(x, Mapping):
        if set(x) not in ({TEXT}, {WORDS}):
            raise ValueError(
                f"Token classification reads either {TEXT!r} or {WORDS!r}. "
                f"Received: keys={sorted(x)}"
            )
        ((key, values),) = x.items()
    else:
        key, values = None, x
    if isinstance(values, tf.RaggedTensor):
        return {WORDS: values}
    if tf.is_tensor(values):
        return {TEXT: values}
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"Pass a list, even for one text. Received: {values!r}")
    rows = list(values)
    if key is None:
        key = WORDS if rows and not isinstance(rows[0], (str, bytes)) else TEXT
    return {key: _texts(rows) if key == TEXT else _words(rows)}


def _texts(rows: list[Any]) -> tf.Tensor:
    for number, row in enumerate(rows):
        if not isinstance(row, (str, bytes)):
            raise ValueError(f"Row {number} is not a text. Received: {row!r}")
    return text_tensor(rows)


def _words(rows: list[Any]) -> tf.RaggedTensor:
    for number, row in enumerate(rows):
        is_list = isinstance(row, Iterable) and not isinstance(row, (str, bytes))
        if not is_list or not all(isinstance(word, (str, bytes)) for word in row):
            raise ValueError(f"Row {number} is not a list of words. Received: {row!r}")
    words = [list(row) for row in rows]
    flat = [word for row in words for word in row]
    row_of_word = [number for number, row in enumerate(words) for _ in row]
    return tf.RaggedTensor.from_row_lengths(text_tensor(flat, row_of_word), _lengths(words))


def target_columns(y: Any, columns: Mapping[str, Any], labels: Sequence[str]) -> Any:
    """Return tags or entities as the preprocessor takes them.

    Args:
        y: for words, for each row the tags, names or numbers; for texts, for each row the entities,
            dicts of "start", "end" and "type", or such triples, in characters, half-open.
        columns: from `tagged_columns`.
        labels: the tags that the task knows.

    Returns:
        (rows, words) int32, ragged; or a dict of "starts", "ends", (rows, entities) int32, and
        "types", (rows, entities) string, ragged.

    Raises:
        ValueError: for another number of rows or of tags, an unknown tag, or an entity that
            overlaps another one, lies outside of its text, or is of an unknown type; the message
            names the row.
    """
    ((key, values),) = columns.items()
    rows = list(y.to_list() if isinstance(y, tf.RaggedTensor) else y)
    if len(rows) != int(values.shape[0]):
        raise ValueError(
            f"There must be {'tags' if key == WORDS else 'entities'} for each of the "
            f"{values.shape[0]} rows. Received: y of {len(rows)} rows"
        )
    if key == WORDS:
        return _tag_numbers(rows, values, labels)
    lengths = tf.strings.length(values, unit="UTF8_CHAR").numpy().tolist()
    types = {label[2:] for label in labels if label[:2] in ("B-", "I-")}
    entities = [
        _entities(number, row, length, types)
        for number, (row, length) in enumerate(zip(rows, lengths, strict=True))
    ]
    parts = [[[entity[i] for entity in row] for row in entities] for i in range(3)]
    return {
        ENTITY_STARTS: _ragged(parts[0], tf.int32),
        ENTITY_ENDS: _ragged(parts[1], tf.int32),
        ENTITY_TYPES: _ragged(parts[2], tf.string),
    }


def _tag_numbers(rows: list[Any], words: tf.RaggedTensor, labels: Sequence[str]) -> Any:
    number_of: dict[Any, int] = {label: number for number, label in enumerate(labels)}
    number_of |= {label.encode(): number for label, number in number_of.items()}
    converted = []
    for number, (row, count) in enumerate(
        zip(rows, words.row_lengths().numpy().tolist(), strict=True)
    ):
        tags = list(row)
        if len(tags) != count:
            raise ValueError(
                f"Row {number}: every word needs a tag. Received: words={count}, tags={len(tags)}"
            )
        numbers = [number_of.get(tag, tag) for tag in tags]
        for tag in numbers:
            if not is_whole_number(tag) or not 0 <= tag < len(labels):
                raise ValueError(
                    f"Row {number} has a tag that the task does not know; it knows "
                    f"{', '.join(labels)}. Received: tag={tag!r}"
                )
        converted.append(numbers)
    return _ragged(converted, tf.int32)


def _entities(number: int, row: Any, length: int, types: set[str]) -> list[tuple[int, int, str]]:
    """Return the checked entities of a text in order."""
    found = sorted(_entity(number, item) for item in row)
    behind = 0
    for start, end, kind in found:
        if not 0 <= start < end <= length:
            raise ValueError(
                f"Row {number}: the text ends at character {length}, and an entity lies in it and "
                f"is not empty. Received: start={start}, end={end}"
            )
        if start < behind:
            raise ValueError(
                f"Row {number}: entities overlap, and a character can belong to one only. "
                f"Received: start={start}, which is before {behind}"
            )
        if kind not in types:
            raise ValueError(
                f"Row {number} has an entity of a type that the task does not know; it knows "
                f"{', '.join(sorted(types))}. Received: type={kind!r}"
            )
        behind = end
    return found


def _entity(number: int, item: Any) -> tuple[int, int, str]:
    if isinstance(item, Mapping) and all(key in item for key in _ENTITY_KEYS):
        item = [item[key] for key in _ENTITY_KEYS]
    if not isinstance(item, (tuple, list)) or len(item) != 3:
        raise ValueError(
            f"Row {number}: an entity is a dict of start, end and type, or such a triple. "
            f"Received: {item!r}"
        )
    start, end, kind = item
    if not (is_whole_number(start) and is_whole_number(end)):
        raise ValueError(
            f"Row {number}: start and end count characters. Received: start={start!r}, end={end!r}"
        )
    return int(start), int(end), str(kind)


def _ragged(rows: Sequence[Sequence[Any]], dtype: tf.DType) -> tf.RaggedTensor:
    """Return rows as a ragged tensor; `tf.ragged.constant` takes many times as long."""
    flat = [value for row in rows for value in row]
    return tf.RaggedTensor.from_row_lengths(
        tf.constant(flat, dtype=dtype, shape=(len(flat),)), _lengths(rows)
    )


def _lengths(rows: Sequence[Sequence[Any]]) -> tf.Tensor:
    return tf.constant([len(row) for row in rows], tf.int64, shape=(len(rows),))
