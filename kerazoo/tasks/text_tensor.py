"""A column of texts in memory as a tensor."""

from collections.abc import Iterable, Sequence

import tensorflow as tf


def text_tensor(texts: Sequence[str | bytes], rows: Iterable[int] | None = None) -> tf.Tensor:
    """Return texts as a tensor, (texts,) string.

    Args:
        texts: strings.
        rows: the row of each for the message; None is one text a row.

    Raises:
        ValueError: if a text holds half a surrogate pair, as a text that was cut within an emoji
            does in some languages; the message names the row.
    """
    try:
        return tf.constant(texts, dtype=tf.string, shape=(len(texts),))
    except ValueError:
        for row, text in zip(range(len(texts)) if rows is None else rows, texts, strict=True):
            _check_characters(row, text)
        raise


def _check_characters(row: int, text: str | bytes) -> None:
    try:
        text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Row {row} holds half a surrogate pair, which is not a character. "
            f"Received: {text[error.start]!r}"
        ) from None
