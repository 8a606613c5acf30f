"""Which pieces start a word: told from white space, punctuation and Han characters."""

from collections.abc import Sequence

import tensorflow as tf

from kerazoo.tokenizers.bert_characters import HAN, PUNCTUATION
from kerazoo.tokenizers.long_words import Pieces
from kerazoo.tokenizers.word_pieces import SUFFIX_INDICATOR


class WordStarts:
    """Tells for each piece of a batch of texts whether it starts a word.

    It does unless it touches the piece before and neither of the two is punctuation or a Han
    character. In segmented text, where spaces set words apart, Han characters are like any other.

    Args:
        vocabulary: the entries in id order.
        unknown_id: int, the id of the unknown token, whose characters only the text tells.
        han_are_words: bool, whether the tokenizer makes each Han character a word.
    """

    def __init__(self, vocabulary: Sequence[str], unknown_id: int, han_are_words: bool) -> None:
        """Look at the first and the last character of each entry."""
        self._unknown_id = unknown_id
        self._han_are_words = han_are_words
        with tf.init_scope():
            entries = tf.constant([entry.removeprefix(SUFFIX_INDICATOR) for entry in vocabulary])
            self._ends = {segmented: _lone_ends(entries, segmented) for segmented in _ALONE}
            self._is_continuation = tf.constant(
                [entry.startswith(SUFFIX_INDICATOR) for entry in vocabulary]
            )

    def __call__(self, texts: tf.Tensor, pieces: Pieces, segmented: bool) -> tf.RaggedTensor:
        """Return the word starts of texts.

        Args:
            texts: (batch,) string, the text that the offsets index.
            pieces: (ids, starts, ends), each (batch, tokens); offsets in bytes, int64.
            segmented: bool, whether spaces set all words of the texts apart.

        Returns:
            (batch, tokens) bool.
        """
        ids, starts, ends = pieces
        if self._han_are_words and not segmented:
            # The tokenizer's own words are those of the rule.
            return ids.with_flat_values(~tf.gather(self._is_continuation, ids.flat_values))
        lone_ends = tf.gather(self._ends[segmented], ids.flat_values)
        unknown = tf.where(ids.flat_values == self._unknown_id)
        strings = _strings_of(texts, pieces, unknown[:, 0])
        lone_ends = tf.tensor_scatter_nd_update(lone_ends, unknown, _lone_ends(strings, segmented))
        lone = (lone_ends[:-1] & _LAST) | (lone_ends[1:] & _FIRST)
        goes_on = (starts.flat_values[1:] == ends.flat_values[:-1]) & (lone == 0)
        is_start = tf.concat([tf.ones_like(ids.flat_values[:1], tf.bool), ~goes_on], axis=0)
        return ids.with_flat_values(is_start | _begins_row(ids))


_ALONE = {False: f"(?:{PUNCTUATION}|{HAN})", True: PUNCTUATION}
_FIRST, _LAST = 1, 2


def _lone_ends(strings: tf.Tensor, segmented: bool) -> tf.Tensor:
    """Return which ends of strings are words of their own: `_FIRST`, `_LAST`, their sum, or 0."""
    first = tf.strings.regex_full_match(strings, f"(?s){_ALONE[segmented]}.*")
    last = tf.strings.regex_full_match(strings, f"(?s).*{_ALONE[segmented]}")
    return tf.cast(first, tf.int32) * _FIRST + tf.cast(last, tf.int32) * _LAST


def _strings_of(texts: tf.Tensor, pieces: Pieces, which: tf.Tensor) -> tf.Tensor:
    """Return what some pieces stand for in the text; `which` counts over all rows."""
    ids, starts, ends = pieces
    row = tf.searchsorted(ids.row_splits, which, side="right", out_type=tf.int64) - 1
    start = tf.gather(starts.flat_values, which)
    return tf.strings.substr(
        tf.gather(texts, row), start, tf.gather(ends.flat_values, which) - start
    )


def _begins_row(ids: tf.RaggedTensor) -> tf.Tensor:
    """Return which pieces are the first of their row, (all tokens,) bool."""
    count = tf.shape(ids.flat_values, tf.int64)
    row_starts = ids.row_splits[:-1, tf.newaxis]
    begun = tf.scatter_nd(row_starts, tf.ones_like(row_starts[:, 0]), count + 1)
    return begun[:-1] > 0
