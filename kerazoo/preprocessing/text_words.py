"""Words of texts and the tokens that they consist of, in the graph."""

import dataclasses

import tensorflow as tf

from kerazoo.preprocessing.trimmed_offsets import SPACE
from kerazoo.tokenizers.bert_characters import HAN, PUNCTUATION
from kerazoo.tokenizers.running_total import running_total
from kerazoo.tokenizers.token_rows import row_of_each_token

_LONE = f"(?:{PUNCTUATION}|{HAN})"
NO_TOKEN = -1
"""In the place of the token of a word that has none."""


@dataclasses.dataclass(frozen=True)
class TextWords:
    """The words of some texts.

    Args:
        starts: (texts, words) int32, the first character of each word.
        ends: (texts, words) int32, the character behind it.
        first_token: (texts, words) int32, its first token, counted from the text's first one; -1
            for a word of which no token is left, such as one of control characters.
        word_of_token: (texts, tokens) int32, the word of each token, counted from the text's first
            one; -1 for a token of white space alone.
    """

    starts: tf.RaggedTensor
    ends: tf.RaggedTensor
    first_token: tf.RaggedTensor
    word_of_token: tf.RaggedTensor


def words_of_texts(texts: tf.Tensor, starts: tf.RaggedTensor, ends: tf.RaggedTensor) -> TextWords:
    """Find the words of running text.

    A token begins a word unless it touches the one before, which may only be set apart from it by
    characters that the tokenizer drops, and neither of the two is punctuation or a Han character
    there. So no token belongs to two words, and every word has a token.

    Args:
        texts: (texts,) string, valid UTF-8.
        starts: (texts, tokens) int32, the character at which each token begins, white space left
            out.
        ends: (texts, tokens) int32, the character behind it.
    """
    is_space, is_lone, base = _characters(texts)
    kept, row = _not_blank(starts, ends)
    start, end = (tf.gather(values.flat_values, kept) for values in (starts, ends))
    begin = tf.gather(base, row)
    spaces = running_total(tf.cast(is_space, tf.int32))
    # Positions among the characters of all texts; one more, which stands behind the last.
    first, before = begin + start, (begin + end)[:-1]
    touches = tf.gather(spaces, first[1:]) == tf.gather(spaces, before)
    lone = tf.gather(is_lone, first[1:]) | tf.gather(is_lone, before - 1)
    # Tokens of one character share its offsets and always touch.
    goes_on = (row[1:] == row[:-1]) & touches & (~lone | (first[1:] < before))
    is_start = tf.concat([tf.ones_like(kept[:1], tf.bool), ~goes_on], axis=0)
    word = tf.cumsum(tf.cast(is_start, tf.int32)) - 1
    heads = tf.where(is_start)[:, 0]
    head_rows = tf.gather(row, heads)

    def by_word(values: tf.Tensor) -> tf.RaggedTensor:
        return tf.RaggedTensor.from_value_rowids(
            values, head_rows, nrows=starts.nrows(), validate=False
        )

    tokens_before = tf.cast(tf.gather(starts.row_starts(), head_rows), tf.int32)
    first_token = by_word(tf.cast(tf.gather(kept, heads), tf.int32) - tokens_before)
    words_before = tf.cast(tf.gather(first_token.row_starts(), row), tf.int32)
    return TextWords(
        starts=by_word(tf.gather(start, heads)),
        ends=by_word(tf.math.segment_max(end, word)),
        first_token=first_token,
        word_of_token=_of_tokens(starts, kept, word - words_before),
    )


def joined_words(words: tf.RaggedTensor, separator: str) -> tf.Tensor:
    """Return the texts of words, (texts,) string.

    Args:
        words: (texts, words) string.
        separator: str, what stands between two words.
    """
    row = row_of_each_token(words)
    is_first = tf.concat([tf.ones_like(row[:1], tf.bool), row[1:] != row[:-1]], axis=0)
    # `reduce_join` puts no separator behind empty words at the beginning.
    ahead = tf.where(is_first, "", separator)
    spaced = words.with_flat_values(tf.strings.join([ahead, words.flat_values]))
    return tf.strings.reduce_join(spaced, axis=1)


def words_given(
    words: tf.RaggedTensor, separator: str, starts: tf.RaggedTensor, ends: tf.RaggedTensor
) -> TextWords:
    """Find the tokens of words that are given; a token belongs to the word it begins in.

    Args:
        words: (texts, words) string, valid UTF-8.
        separator: str, what stood between the words when the texts were tokenised.
        starts: as for `words_of_texts`.
        ends: as for `words_of_texts`.
    """
    gap = len(separator)
    lengths = words.with_flat_values(tf.strings.length(words.flat_values, unit="UTF8_CHAR"))
    ahead = running_total(lengths.flat_values + gap)
    row_ahead = tf.gather(ahead, lengths.row_starts())
    word_starts = ahead[:-1] - tf.gather(row_ahead, row_of_each_token(lengths))
    word_ends = word_starts + lengths.flat_values
    kept, row = _not_blank(starts, ends)
    position = tf.gather(row_ahead, row) + tf.gather(starts.flat_values, kept)
    word = tf.searchsorted(ahead[:-1], position, side="right") - 1
    tokens_before = tf.cast(tf.gather(starts.row_starts(), row), tf.int32)
    token = tf.cast(kept, tf.int32) - tokens_before
    count = tf.size(word_starts)
    first = tf.math.unsorted_segment_min(token, word, count)
    has_token = tf.math.unsorted_segment_sum(tf.ones_like(word), word, count) > 0
    words_before = tf.cast(tf.gather(lengths.row_starts(), row), tf.int32)
    return TextWords(
        starts=lengths.with_flat_values(word_starts),
        ends=lengths.with_flat_values(word_ends),
        first_token=lengths.with_flat_values(tf.where(has_token, first, NO_TOKEN)),
        word_of_token=_of_tokens(starts, kept, word - words_before),
    )


def _characters(texts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return which characters of all texts are space and which are words, and where texts begin."""
    code_points = tf.strings.unicode_decode(texts, "UTF-8")
    different, index = tf.unique(code_points.flat_values)
    characters = tf.strings.unicode_encode(different[:, tf.newaxis], "UTF-8")
    is_space, is_lone = (
        tf.gather(tf.strings.regex_full_match(characters, pattern), index)
        for pattern in (SPACE, _LONE)
    )
    return is_space, is_lone, tf.cast(code_points.row_starts(), tf.int32)


def _not_blank(starts: tf.RaggedTensor, ends: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return which tokens are no white space, and the text of each, both (tokens,) int64."""
    kept = tf.where(ends.flat_values > starts.flat_values)[:, 0]
    return kept, tf.gather(row_of_each_token(starts), kept)


def _of_tokens(like: tf.RaggedTensor, kept: tf.Tensor, values: tf.Tensor) -> tf.RaggedTensor:
    """Return values of some tokens for all of them, `NO_TOKEN` for the others."""
    filled = tf.fill(tf.shape(like.flat_values), NO_TOKEN)
    return like.with_flat_values(
        tf.tensor_scatter_nd_update(filled, kept[:, tf.newaxis], tf.cast(values, tf.int32))
    )
