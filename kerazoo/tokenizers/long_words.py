"""The limit on the length of words, in characters."""

import tensorflow as tf

from kerazoo.tokenizers.plain_texts import MAX_REPETITION
from kerazoo.tokenizers.token_rows import row_of_each_token

Pieces = tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]

# Some of the characters that are never within a word.
_SEPARATORS = r"\x00-/:-@\[-`{-~\x{3001}\x{3002}\x{ff01}\x{ff0c}\x{ff1f}"
_HAN = r"\x{4e00}-\x{9fff}"


def replace_long_words(
    texts: tf.Tensor,
    pieces: Pieces,
    is_continuation: tf.Tensor,
    max_characters: int,
    unknown_id: int,
    han_are_words: bool = True,
    is_plain: tf.Tensor | None = None,
) -> Pieces:
    """Make each word of too many characters one unknown token, with the whole word as its span.

    Only batches that may hold such a word cost more than a look.

    Args:
        texts: (batch,) string, the text that the offsets index.
        pieces: (ids, starts, ends), each (batch, tokens); offsets in bytes, int64.
        is_continuation: (vocabulary,) bool, the entries that do not start a word.
        max_characters: int, the most characters a word may have.
        unknown_id: int, the id of the unknown token.
        han_are_words: bool, whether each Han character is a word.
        is_plain: (batch,) bool, texts in which no long word must be looked for; see `plain_texts`.

    Returns:
        (ids, starts, ends) like `pieces`.
    """
    ids, starts, ends = pieces

    def unchanged() -> tuple[tf.Tensor, ...]:
        return ids.flat_values, starts.flat_values, ends.flat_values, ids.row_splits

    def replaced() -> tuple[tf.Tensor, ...]:
        is_first = ~tf.gather(is_continuation, ids.flat_values)
        first = tf.where(is_first)[:, 0]
        last = tf.concat([first, tf.shape(is_first, tf.int64)], axis=0)[1:] - 1
        word_starts = tf.gather(starts.flat_values, first)
        word_ends = tf.gather(ends.flat_values, last)
        row = tf.gather(row_of_each_token(ids), first)
        words = tf.strings.substr(tf.gather(texts, row), word_starts, word_ends - word_starts)
        is_long = tf.strings.length(words, unit="UTF8_CHAR") > max_characters
        word = tf.cumsum(tf.cast(is_first, tf.int64)) - 1
        in_long = tf.gather(is_long, word)
        keep = is_first | ~in_long
        kept_before = tf.cumsum(tf.concat([tf.cast(keep, tf.int64), [0]], axis=0), exclusive=True)
        return (
            tf.boolean_mask(tf.where(in_long, unknown_id, ids.flat_values), keep),
            tf.boolean_mask(starts.flat_values, keep),
            tf.boolean_mask(tf.where(in_long, tf.gather(word_ends, word), ends.flat_values), keep),
            tf.gather(kept_before, ids.row_splits),
        )

    suspects = texts if is_plain is None else tf.boolean_mask(texts, ~is_plain)
    may_be_long = _may_hold_long_words(suspects, max_characters, han_are_words)
    *values, row_splits = tf.cond(may_be_long, replaced, unchanged)
    ids, starts, ends = (
        tf.RaggedTensor.from_row_splits(value, row_splits, validate=False) for value in values
    )
    return ids, starts, ends


def _may_hold_long_words(
    texts: tf.Tensor, max_characters: int, han_are_words: bool
) -> tf.Tensor | bool:
    """Return whether any text has a run of too many characters that might all be of one word.

    Looking at the text with one pattern is far cheaper than adding up the pieces of each word.
    """
    if max_characters >= MAX_REPETITION:
        return True
    separators = _SEPARATORS + (_HAN if han_are_words else "")
    run = f"(?s).*[^{separators}]{{{max_characters + 1}}}.*"
    return tf.reduce_any(tf.strings.regex_full_match(texts, run))
