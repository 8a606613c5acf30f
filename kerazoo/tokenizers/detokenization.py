"""Tokens joined to a text that people can read."""

import tensorflow as tf

_HAN = (
    r"[\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{20000}-\x{2a6df}\x{2a700}-\x{2b73f}"
    r"\x{2b740}-\x{2b81f}\x{2b820}-\x{2ceaf}\x{f900}-\x{faff}\x{2f800}-\x{2fa1f}]"
)


def join_word_pieces(tokens: tf.RaggedTensor) -> tf.Tensor:
    """Join WordPiece tokens: pieces to their word, words with a space, Han characters without.

    Args:
        tokens: (batch, tokens) string.

    Returns:
        (batch,) string.
    """
    texts = tf.strings.reduce_join(tokens, axis=-1, separator=" ")
    texts = tf.strings.regex_replace(texts, " ##", "")
    for _ in range(2):  # a match takes both neighbours, so every second gap is left to the next
        texts = tf.strings.regex_replace(texts, f"({_HAN}) ({_HAN})", r"\1\2")
    return texts
