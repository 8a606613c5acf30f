"""The caller's texts, in whatever form, as string tensors, and these as valid UTF-8."""

from typing import Any

import numpy as np
import tensorflow as tf

# RE2 matches no invalid byte, but it does match surrogates, which UTF-8 does not allow.
_VALID = r"[\x{0}-\x{d7ff}\x{e000}-\x{10ffff}]*"


def to_text_tensor(texts: Any) -> tf.Tensor | tf.RaggedTensor:
    """Return texts as a string tensor in which every invalid byte sequence is U+FFFD.

    Args:
        texts: a string, a list, tuple, NumPy array or data-frame column of strings, or a string
            tensor (ragged or not).

    Returns:
        A string tensor of the same shape, valid UTF-8.

    Raises:
        TypeError: if an element is no string.
    """
    return valid_utf8(to_string_tensor(texts))


def to_string_tensor(texts: Any) -> tf.Tensor | tf.RaggedTensor:
    """Return what `to_text_tensor` does, but with invalid bytes as they are."""
    if not tf.is_tensor(texts):
        texts = _to_tensor(texts)
    if texts.dtype != tf.string:
        raise TypeError(
            "A tokenizer takes strings, or lists or tensors of strings. "
            f"Received: texts of dtype {texts.dtype.name}"
        )
    return texts


def valid_utf8(texts: tf.Tensor | tf.RaggedTensor) -> tf.Tensor | tf.RaggedTensor:
    """Return strings with each invalid byte sequence replaced by U+FFFD."""
    if isinstance(texts, tf.RaggedTensor):
        return texts.with_flat_values(valid_utf8(texts.flat_values))
    # Looking for them is ten times faster than replacing.
    return tf.cond(
        tf.reduce_all(tf.strings.regex_full_match(texts, _VALID)),
        lambda: tf.identity(texts),
        lambda: tf.strings.unicode_transcode(
            texts, "UTF-8", "UTF-8", errors="replace", replacement_char=0xFFFD
        ),
    )


def _to_tensor(texts: Any) -> tf.Tensor:
    array = np.empty((), dtype=object)
    if isinstance(texts, (str, bytes)):
        array[()] = texts
    else:
        array = np.asarray(texts, dtype=object)
    for text in array.flat:
        if not isinstance(text, (str, bytes)):
            raise TypeError(
                "A tokenizer takes strings, or lists or tensors of strings. "
                f"Received: an element of type {type(text).__name__}: {text!r}"
            )
    try:
        return tf.convert_to_tensor(array, dtype=tf.string)
    except ValueError as error:
        raise ValueError(
            "A text holds half of a surrogate pair, which is no character and cannot be written "
            "as UTF-8. Replace it, for example with `text.encode('utf-8', 'replace').decode()`. "
            f"Received: {_surrogate(array)}"
        ) from error


def _surrogate(array: np.ndarray) -> str:
    """Describe the first element that cannot be encoded."""
    for text in array.flat:
        try:
            text if isinstance(text, bytes) else text.encode("utf-8")
        except UnicodeEncodeError as error:
            return f"{text[error.start]!r} at character {error.start} of a text"
    return "texts that cannot be encoded"
