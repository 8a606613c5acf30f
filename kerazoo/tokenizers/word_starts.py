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
    """

    def __init__(self, vocabulary: Sequence[str], unknown_id: int) -> None:
        """Look at the first and the last character of each entry."""
        self._unknown_id = unknown_id
        with tf.init_scope():
            entries = tf.constant([entry.removeprefix(SUFFIX_INDICATOR) for entry in vocabulary])
            self._tables = {segmented: _stands_alone(entries, segmented) for segmented in _ALONE}

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
        begins_alone, ends_alone = (
            tf.gather(table, ids.flat_values) for table in self._tables[segmented]
        )
        unknown = tf.where(ids.flat_values == self._unknown_id)
        begins_unknown, ends_unknown = _stands_alone(
            _strings_of(texts, pieces, unknown[:, 0]), segmented
        )
        begins_alone = tf.tensor_scatter_nd_update(begins_alone, unknown, begins_unknown)
        ends_alone = tf.tensor_scatter_nd_update(ends_alone, unknown, ends_unknown)
        touches = starts.flat_values[1:] == ends.flat_values[:-1]
        goes_on = touches & ~begins_alone[1:] & ~ends_alone[:-1]
        is_start = tf.concat([tf.ones_like(begins_alone[:1]), ~goes_on], axis=0)
        return ids.with_flat_values(is_start | _begins_row(ids))


_ALONE = {False: f"(?:{PUNCTUATION}|{HAN})", True: PUNCTUATION}


def _stands_alone(strings: tf.Tensor, segmented: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return whether the first and the last character of strings are words of their own."""
    first = tf.strings.regex_full_match(strings, f"(?s){_ALONE[segmented]}.*")
    return first, tf.strings.regex_full_match(strings, f"(?s).*{_ALONE[segmented]}")


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
