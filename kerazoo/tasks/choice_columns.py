"""Multiple-choice questions as users pass them, checked and turned into columns."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import CHOICES, CONTEXT, QUESTION
from kerazoo.preprocessing.choice_texts import choice_texts, dense_choices, real_choices


def is_raw_choices(x: Any) -> bool:
    """Return whether `x` is questions in memory: a dict of columns, or a list of dicts."""
    if isinstance(x, Mapping):
        return CHOICES in x
    return isinstance(x, (list, tuple)) and all(isinstance(row, Mapping) for row in x)


def choice_columns(x: Any) -> dict[str, tf.Tensor]:
    """Return questions as columns.

    Args:
        x: dict of "choices", for each row a list of texts, which may differ in length, and perhaps
            "context" and "question", for each row a text; or a list of dicts of one row each.

    Returns:
        dict of "context" and "question", each (rows,) string and empty where there is none, and
        "choices", (rows, choices) string, filled up with empty ones, which are no choices.

    Raises:
        ValueError: if a row has no choice or something else than texts, or the columns differ in
            length; the message names the row.
    """
    if not isinstance(x, Mapping):
        x = _transposed(x)
    _check_keys(x)
    columns: dict[str, Any] = {
        key: value if tf.is_tensor(value) else list(value) for key, value in x.items()
    }
    sizes = {
        key: int(value.shape[0]) if tf.is_tensor(value) else len(value)
        for key, value in columns.items()
    }
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Every question needs its choices. Received: rows={sizes}")
    for key, values in columns.items():
        if not tf.is_tensor(values):
            _check_texts(key, values)
    columns[CHOICES] = dense_choices(columns[CHOICES])
    columns = {
        key: tf.constant(value, tf.string, (len(value),)) if isinstance(value, list) else value
        for key, value in columns.items()
    }
    context, question, choices = choice_texts(columns)
    for row in np.flatnonzero(~np.any(real_choices(choices).numpy(), axis=1))[:1]:
        raise ValueError(f"Row {row} has no choices. Received: {CHOICES}=[] in row {row}")
    return {CONTEXT: context, QUESTION: question, CHOICES: choices}


def choice_label_column(y: Any, choices: tf.Tensor) -> tf.Tensor:
    """Return labels as (rows,) int32.

    Args:
        y: the index of the right choice of each row, from 0.
        choices: (rows, choices) string.

    Raises:
        ValueError: for another number of rows, something else than whole numbers, or a number that
            is no choice of its row.
    """
    values = np.asarray(y)
    rows = int(choices.shape[0])
    if values.shape != (rows,):
        raise ValueError(
            f"There must be one label for each of the {rows} questions. "
            f"Received: y of shape {values.shape}"
        )
    if rows and values.dtype.kind not in "iu":
        raise ValueError(
            f"A label is the index of the right choice, from 0. Received: y of dtype {values.dtype}"
        )
    is_real = real_choices(choices).numpy()
    for row, label in enumerate(values.tolist()):
        if not 0 <= label < is_real.shape[1] or not is_real[row, label]:
            raise ValueError(
                f"Row {row} has {int(is_real[row].sum())} choices, and its label is none of them; "
                f"labels count from 0. Received: y={label}"
            )
    return tf.constant(values, dtype=tf.int32)


def _transposed(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns."""
    rows = list(rows)
    keys = sorted(set().union(*rows)) if rows else [CHOICES]
    for number, row in enumerate(rows):
        missing = [key for key in keys if key not in row]
        if missing:
            raise ValueError(
                f"All rows must have the same keys, and row {number} lacks {missing[0]!r}. "
                f"Received: keys={sorted(row)}"
            )
    return {key: [row[key] for row in rows] for key in keys}


def _check_keys(x: Mapping[str, Any]) -> None:
    unknown = sorted(set(x) - {CONTEXT, QUESTION, CHOICES})
    if CHOICES not in x or unknown:
        raise ValueError(
            f"Multiple choice needs the key {CHOICES!r} and takes {CONTEXT!r} and {QUESTION!r}. "
            f"Received: keys={sorted(x)}"
        )


def _check_texts(key: str, values: list[Any]) -> None:
    """Raise ValueError unless each row has a text, or a list of texts as choices."""
    for row, value in enumerate(values):
        texts = value if key == CHOICES else [value]
        is_list = isinstance(texts, Iterable) and not isinstance(texts, (str, bytes))
        if not is_list or not all(isinstance(text, (str, bytes)) for text in texts):
            expected = "a list of texts" if key == CHOICES else "a text"
            raise ValueError(f"Row {row} of `{key}` is not {expected}. Received: {value!r}")
        if key == CHOICES and any(not text for text in texts):
            raise ValueError(
                f"Row {row} has an empty choice; leave it out. Received: {key}={list(texts)!r}"
            )
