"""Tokens joined to a text that people can read."""

import tensorflow as tf

from kerazoo.tokenizers.bert_characters import HAN


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
        texts = tf.strings.regex_replace(texts, f"({HAN}) ({HAN})", r"\1\2")
    return texts
