"""Which texts need no more than lower-casing: most English ones, told by a single look."""

import tensorflow as tf

MAX_REPETITION = 400
"""How often a pattern may repeat a class; far above it RE2's automaton outgrows its memory."""


def are_plain(texts: tf.Tensor, max_characters: int) -> tf.Tensor:
    """Return which texts are of printable ASCII and have no word of too many characters.

    Nothing in them can be invalid UTF-8, nothing is deleted or decomposed, and, unless the limit
    is above `MAX_REPETITION`, no word is too long, so that none of this must be looked for.

    Args:
        texts: (batch,) string.
        max_characters: int, the most characters a word may have.

    Returns:
        (batch,) bool; False says nothing.
    """
    short = f"{{0,{max_characters}}}" if max_characters <= MAX_REPETITION else "*"
    return tf.strings.regex_full_match(texts, rf"(?:[!-~]{short}[\t\n\r ])*[!-~]{short}")
