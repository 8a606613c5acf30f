"""Offsets of tokens without the white space that some tokenizers count to them."""

import tensorflow as tf

from kerazoo.tokenizers.running_total import running_total
from kerazoo.tokenizers.token_rows import row_of_each_token

SPACE = r"[\s\p{Z}\x{b}\x{1c}-\x{1f}\x{85}]"
"""White space, as a regular expression of RE2."""


def trimmed_offsets(
    texts: tf.Tensor, starts: tf.RaggedTensor, ends: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Let tokens begin and end with a character that is no white space.

    To a byte-level tokenizer a space belongs to the word after it, and a slice that began with
    such a token would begin with the space.

    Args:
        texts: (batch,) string, valid UTF-8.
        starts: (batch, tokens) int32, the character at which each token begins.
        ends: (batch, tokens) int32, the character behind it.

    Returns:
        The trimmed (starts, ends), both (batch, tokens) int32, in ascending order as before. Of a
        token that is white space alone the end is not behind the start.
    """
    code_points = tf.strings.unicode_decode(texts, "UTF-8")
    different, index = tf.unique(code_points.flat_values)
    characters = tf.strings.unicode_encode(different[:, tf.newaxis], "UTF-8")
    is_space = tf.gather(tf.strings.regex_full_match(characters, SPACE), index)
    # Of all characters of the batch: how many before each are no space, and where those stand.
    before = running_total(tf.cast(~is_space, tf.int32))
    solid = tf.cast(tf.where(~is_space)[:, 0], tf.int32)
    row = row_of_each_token(starts)
    row_start = tf.cast(tf.gather(code_points.row_splits, row), tf.int32)
    row_end = tf.cast(tf.gather(code_points.row_splits, row + 1), tf.int32)
    first = tf.gather(before, row_start + starts.flat_values)
    last = tf.gather(before, row_start + ends.flat_values) - 1
    padded = tf.concat([[-1], solid, tf.shape(is_space)], axis=0)
    # The next solid character of the row, or the row's end; the last one before the end, or none.
    next_solid = tf.minimum(tf.gather(padded, first + 1), row_end)
    behind_last = tf.maximum(tf.gather(padded, last + 1) + 1, row_start)
    return (
        starts.with_flat_values(next_solid - row_start),
        ends.with_flat_values(behind_last - row_start),
    )
