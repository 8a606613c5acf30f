"""The texts of multiple-choice questions in any form, as string tensors."""

from typing import Any

import tensorflow as tf

from kerazoo.axes import CHOICES, CONTEXT, QUESTION


def choice_texts(x: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the texts of a batch of questions.

    Args:
        x: dict of "choices", (batch, choices) string, dense or ragged, and perhaps "context" and
            "question", each (batch,) string; lists will do, and the rows of choices may differ in
            length.

    Returns:
        Context and question, each (batch,) string and empty where there is none, and the choices,
        (batch, choices) string, filled up with empty ones, which are no choices.

    Raises:
        ValueError: if `x` has other keys or a text has another number of axes.
    """
    keys = (CONTEXT, QUESTION, CHOICES)
    if not isinstance(x, dict) or CHOICES not in x or set(x) - set(keys):
        received = f"keys={sorted(x)}" if isinstance(x, dict) else f"a {type(x).__name__}"
        raise ValueError(
            f"Multiple choice needs the key {CHOICES!r} and takes {CONTEXT!r} and {QUESTION!r}. "
            f"Received: {received}"
        )
    choices = dense_choices(x[CHOICES])
    no_text = tf.fill([tf.shape(choices)[0]], "")
    context, question = (_texts(key, x[key]) if key in x else no_text for key in keys[:2])
    return context, question, choices


def dense_choices(value: Any) -> tf.Tensor:
    """Return rows of choices as (batch, choices) string, filled up with empty ones.

    Args:
        value: a dense or ragged string tensor with two axes, or a list of lists of strings.

    Raises:
        ValueError: if it has another number of axes or holds something else than texts.
    """
    if isinstance(value, tf.RaggedTensor):
        value = value.to_tensor("")
    elif not tf.is_tensor(value):
        rows = [list(row) for row in value]
        width = max(map(len, rows), default=0)
        filled = [[*row, *[""] * (width - len(row))] for row in rows]
        value = tf.constant(filled, dtype=tf.string, shape=(len(rows), width))
    if value.dtype != tf.string or value.shape.rank != 2:
        raise ValueError(
            "Choices must be texts with two axes, rows and choices. "
            f"Received: {CHOICES} of shape {value.shape}, dtype {value.dtype.name}"
        )
    return value


def real_choices(choices: tf.Tensor) -> tf.Tensor:
    """Return which of (batch, choices) string are choices and not padding, bool."""
    return tf.not_equal(choices, "")


def _texts(key: str, value: Any) -> tf.Tensor:
    tensor = value if tf.is_tensor(value) else tf.convert_to_tensor(value, dtype=tf.string)
    if tensor.dtype != tf.string or tensor.shape.rank != 1:
        raise ValueError(
            "Texts must be strings with one axis, the batch. "
            f"Received: {key} of shape {tensor.shape}, dtype {tensor.dtype.name}"
        )
    return tensor
