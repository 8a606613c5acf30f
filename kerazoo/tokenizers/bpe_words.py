"""Words to byte-pair tokens: whole words are found at once, only the others are merged."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerazoo.tokenizers.bpe_merges import BPEMerges
from kerazoo.tokenizers.integer_index import IntegerIndex
from kerazoo.tokenizers.running_total import running_total

_FINGERPRINTS = 2**63 - 1


class Symbols(NamedTuple):
    """Words cut into single symbols.

    Attributes:
        ids: (symbols,) int32.
        byte_counts: (symbols,) int32, the bytes of each symbol in the word.
        word_splits: (words + 1,) int32, where the symbols of each word start and end.
    """

    ids: tf.Tensor
    byte_counts: tf.Tensor
    word_splits: tf.Tensor


class Tokens(NamedTuple):
    """Words as tokens.

    Attributes:
        ids: (tokens,) int32.
        starts: (tokens,) int32, byte in the word at which the token starts.
        ends: (tokens,) int32, byte after its last one.
        counts: (words,) int32, the number of tokens of each word.
    """

    ids: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    counts: tf.Tensor

    def in_rows(self, words: tf.RaggedTensor) -> tf.RaggedTensor:
        """Return the ids in the rows of their words: (batch, words) -> (batch, tokens) int32."""
        splits = running_total(tf.cast(self.counts, tf.int64))
        return tf.RaggedTensor.from_row_splits(
            self.ids, tf.gather(splits, words.row_splits), validate=False
        )


class BPEWords:
    """Finds words in the vocabulary and merges the rest, each different word once.

    A word that stands in the vocabulary is its own token only if merging ends there too. That is
    tried for all entries when the object is made; those that fail are left to the merges.

    Args:
        words: the words to try, by the id that each should give; any words of one token, most
            usefully all of them.
        to_symbols: cuts (words,) string into `Symbols`.
        merges: the merges.
        fixed: words that are one token without merging, and their ids.
        cuts: bool, find segments of words too. That needs words whose bytes are those of their
            symbols and mean the same in every place.
    """

    def __init__(
        self,
        words: Mapping[bytes, int],
        to_symbols: Callable[[tf.Tensor], Symbols],
        merges: BPEMerges,
        fixed: Mapping[bytes, int],
        cuts: bool,
    ) -> None:
        """Try all entries and index those that merging leaves whole."""
        self._to_symbols = to_symbols
        self._merges = merges
        self._cuts = cuts
        with tf.init_scope(), tf.device("CPU:0"):
            whole = {**self._whole(words), **fixed}
            entries = list(whole) or [b""]
            prints = tf.strings.to_hash_bucket_fast(entries, _FINGERPRINTS)
            # Should two fingerprints be equal, one entry is left to the merges.
            prints, kept = np.unique(prints.numpy(), return_index=True)
            self._entries = tf.constant([entries[number] for number in kept])
            self._entry_ids = tf.constant([whole.get(entries[n], -1) for n in kept], tf.int32)
        self._index = IntegerIndex(prints)

    def encode(self, words: tf.Tensor) -> Tokens:
        """Return the tokens of words, (words,) string without invalid UTF-8; "" has none."""
        return self._find(words, self._cut_and_find if self._cuts else self._merge)

    def _find(self, words: tf.Tensor, otherwise: Callable[[tf.Tensor], Tokens]) -> Tokens:
        """Return the tokens of words; those that are no entry are left to another function."""
        different, index = tf.unique(words)
        found = self._index.find(tf.strings.to_hash_bucket_fast(different, _FINGERPRINTS))
        found_at = tf.maximum(found, 0)
        is_whole = (found >= 0) & (tf.gather(self._entries, found_at) == different)
        others = tf.where(~is_whole)
        rest = otherwise(tf.gather(different, others[:, 0]))

        # The tokens of the rest stand behind one place for each different word.
        count = tf.size(different)
        behind = count + tf.cumsum(rest.counts, exclusive=True)
        firsts = tf.tensor_scatter_nd_update(tf.range(count), others, behind)
        counts = tf.tensor_scatter_nd_update(tf.ones_like(firsts), others, rest.counts)
        ids = tf.concat([tf.gather(self._entry_ids, found_at), rest.ids], axis=0)
        starts = tf.concat([tf.zeros_like(firsts), rest.starts], axis=0)
        ends = tf.concat([tf.strings.length(different), rest.ends], axis=0)

        firsts, counts = tf.gather(firsts, index), tf.gather(counts, index)
        places = tf.ragged.range(firsts, firsts + counts).flat_values
        ids, starts, ends = (tf.gather(value, places) for value in (ids, starts, ends))
        return Tokens(ids, starts, ends, counts)

    def _cut_and_find(self, words: tf.Tensor) -> Tokens:
        """Return the tokens of words by finding or merging the segments that merge on their own."""
        symbols = self._to_symbols(words)
        is_start = self._merges.segment_starts(symbols.ids, _word_starts(symbols))
        at = tf.where(is_start)[:, 0]
        first_bytes = running_total(symbols.byte_counts)
        starts = tf.gather(first_bytes, at)
        ends = tf.concat([starts[1:], first_bytes[-1:]], axis=0)[: tf.size(at)]
        segments = tf.strings.substr(tf.strings.reduce_join(words), starts, ends - starts)
        tokens = self._find(segments, self._merge)
        segment_splits = tf.gather(running_total(tf.cast(is_start, tf.int32)), symbols.word_splits)
        token_splits = tf.gather(running_total(tokens.counts), segment_splits)
        counts = token_splits[1:] - token_splits[:-1]
        word_bytes = tf.gather(first_bytes, symbols.word_splits[:-1])
        shift = tf.repeat(starts, tokens.counts) - tf.repeat(word_bytes, counts)
        return Tokens(tokens.ids, tokens.starts + shift, tokens.ends + shift, counts)

    def _merge(self, words: tf.Tensor) -> Tokens:
        """Return the tokens of words by merging their symbols."""
        symbols = self._to_symbols(words)
        splits = symbols.word_splits
        tokens = self._merges.merge(symbols.ids, _word_starts(symbols))
        is_token = tokens >= 0
        at = tf.where(is_token)[:, 0]
        token_splits = tf.gather(running_total(tf.cast(is_token, tf.int32)), splits)
        counts = token_splits[1:] - token_splits[:-1]
        first_bytes = running_total(symbols.byte_counts)
        starts = tf.gather(first_bytes, at)
        ends = tf.concat([starts[1:], first_bytes[-1:]], axis=0)[: tf.size(at)]
        word_bytes = tf.repeat(tf.gather(first_bytes, splits[:-1]), counts)
        return Tokens(tf.gather(tokens, at), starts - word_bytes, ends - word_bytes, counts)

    def _whole(self, words: Mapping[bytes, int]) -> dict[bytes, int]:
        """Return those words that merging makes one token of the given id."""
        if not words:
            return {}
        expected = np.fromiter(words.values(), np.int32, len(words))
        tokens = self._merge(tf.constant(list(words)))
        counts = tokens.counts.numpy()
        first = tokens.ids.numpy()[np.minimum(np.cumsum(counts) - counts, len(tokens.ids) - 1)]
        is_whole = (counts == 1) & (first == expected)
        return {w: number for (w, number), it in zip(words.items(), is_whole, strict=True) if it}


def _word_starts(symbols: Symbols) -> tf.Tensor:
    """Return whether a word starts at each symbol, (symbols,) bool."""
    starts, ends = symbols.word_splits[:-1], symbols.word_splits[1:]
    starts = tf.boolean_mask(starts, starts < ends)[:, tf.newaxis]
    ones = tf.ones_like(starts[:, 0])
    return tf.scatter_nd(starts, ones, tf.shape(symbols.ids)) > 0
