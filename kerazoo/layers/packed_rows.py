"""Rows that hold several texts one after another, which must not know of each other."""

from keras import ops

from kerazoo.axes import Tensor


def same_text(text_numbers: Tensor) -> Tensor:
    """Return which positions belong to the same text, (batch, 1, seq, seq) bool.

    Padding counts as a text of its own, so that it sees something and gives finite numbers.

    Args:
        text_numbers: (batch, seq) int32, the number of the text of each token: 1, 2, … and 0 on
            padding.
    """
    return text_numbers[:, None, :, None] == text_numbers[:, None, None, :]


def positions_in_texts(is_same_text: Tensor) -> Tensor:
    """Return the place of each token in its own text, from 0, (batch, seq) int32.

    Args:
        is_same_text: (batch, 1, seq, seq) bool, from `same_text`.
    """
    return ops.sum(ops.cast(is_same_text & earlier(is_same_text), "int32"), axis=(1, 3))


def earlier(is_same_text: Tensor) -> Tensor:
    """Return which keys stand before each query, (seq, seq) bool."""
    places = ops.arange(ops.shape(is_same_text)[-1], dtype="int32")
    return places[None, :] < places[:, None]
