"""Byte-pair merges applied to many words at once, in the graph."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

from kerazoo.tokenizers.integer_index import IntegerIndex

_NEVER = np.iinfo(np.int32).max


class BPEMerges:
    """Merges symbols as byte-pair encoding does (Sennrich et al., 2016, arXiv:1508.07909).

    In each word the adjacent pair of lowest rank is merged, leftmost first, until no pair of the
    word is in the table. All words take their steps together, on flat arrays, so that memory grows
    with the number of symbols and not with the longest word.

    Two things make it fast and change nothing. All places of a word's lowest pair are merged in one
    step (if every merge comes after those that make its parts; otherwise one at a time). And a word
    is cut, before merging, where no merge can reach across: where none has a left part that ends
    with the symbol on the left and a right part that starts with the one on the right.

    Args:
        merges: (left, right) in order of rank, each pair once.
        ids: the id of each part and of each result.
        first_symbols: (vocabulary,) int, id of the first symbol of each entry.
        last_symbols: (vocabulary,) int, id of the last symbol of each entry.

    Attributes:
        results: (merges,) int64, the id of the token that each merge makes.
    """

    def __init__(
        self,
        merges: Sequence[tuple[str, str]],
        ids: Mapping[str, int],
        first_symbols: np.ndarray,
        last_symbols: np.ndarray,
    ) -> None:
        """Make constants of the merges."""
        pairs = np.array([(ids[left], ids[right]) for left, right in merges], np.int64)
        pairs = pairs.reshape(-1, 2)
        self.results = np.array([ids[left + right] for left, right in merges], np.int64)
        self._factor = len(first_symbols)
        self._ranks = IntegerIndex(pairs[:, 0] * self._factor + pairs[:, 1])
        lasts, firsts = last_symbols[pairs[:, 0]], first_symbols[pairs[:, 1]]
        self._crossings = IntegerIndex(np.unique(lasts.astype(np.int64) * self._factor + firsts))
        self._merges_all = _parts_come_first(pairs, self.results, self._factor)
        with tf.init_scope():
            self._results = tf.constant(self.results, tf.int32)

    def segment_starts(self, symbols: tf.Tensor, is_word_start: tf.Tensor) -> tf.Tensor:
        """Return where segments start: words, and their parts that merge each on its own.

        Args:
            symbols: (symbols,) int32, ids of single symbols.
            is_word_start: (symbols,) bool.

        Returns:
            (symbols,) bool.
        """
        crosses = self._crossings.find(self._keys(symbols)) >= 0
        return is_word_start | tf.concat([tf.fill([1], True), ~crosses], axis=0)[: tf.size(symbols)]

    def merge(self, symbols: tf.Tensor, is_word_start: tf.Tensor) -> tf.Tensor:
        """Merge the symbols of words.

        Args:
            symbols: (symbols,) int32, ids of single symbols.
            is_word_start: (symbols,) bool, True at the first symbol of each word.

        Returns:
            (symbols,) int32: at each token's first symbol its id, -1 elsewhere.
        """
        starts = self.segment_starts(symbols, is_word_start)
        segment = tf.cumsum(tf.cast(starts, tf.int32)) - 1
        place = tf.range(tf.size(symbols))
        tokens = tf.fill(tf.shape(symbols), -1)
        shape = tf.TensorShape([None])
        tokens, *_ = tf.while_loop(
            lambda tokens, symbols, segment, place: tf.size(symbols) > 0,
            self._step,
            (tokens, symbols, segment, place),
            shape_invariants=(shape, shape, shape, shape),
        )
        return tokens

    def _step(
        self, tokens: tf.Tensor, symbols: tf.Tensor, segment: tf.Tensor, place: tf.Tensor
    ) -> tuple[tf.Tensor, ...]:
        """Merge the lowest pair of each segment; put away the segments that have none."""
        position = tf.range(tf.size(symbols))
        rank = self._ranks.find(self._keys(symbols))
        is_pair = (segment[1:] == segment[:-1]) & (rank >= 0)
        rank = tf.concat([tf.where(is_pair, rank, _NEVER), [_NEVER]], axis=0)
        lowest = tf.gather(tf.math.segment_min(rank, segment), segment)
        is_left = (rank == lowest) & (rank < _NEVER)
        if self._merges_all:
            is_left &= _is_even_in_run(is_left, position)
        else:
            first = tf.math.segment_min(tf.where(is_left, position, _NEVER), segment)
            is_left &= position == tf.gather(first, segment)
        symbols = tf.where(is_left, tf.gather(self._results, tf.where(is_left, rank, 0)), symbols)
        is_right = tf.concat([[False], is_left[:-1]], axis=0)

        is_done = lowest == _NEVER
        done = tf.where(is_done)
        tokens = tf.tensor_scatter_nd_update(
            tokens, tf.gather(place, done), tf.gather(symbols, done[:, 0])
        )
        going_on = tf.where(~(is_right | is_done))[:, 0]
        segment = tf.gather(segment, going_on)
        return tokens, tf.gather(symbols, going_on), segment, tf.gather(place, going_on)

    def _keys(self, symbols: tf.Tensor) -> tf.Tensor:
        """Return the key of each adjacent pair, (symbols - 1,) int64."""
        symbols = tf.cast(symbols, tf.int64)
        return symbols[:-1] * self._factor + symbols[1:]


def _is_even_in_run(is_left: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
    """Return whether a True stands at an even place of its run of Trues: "aaa" is "aa", "a"."""
    starts_run = is_left & ~tf.concat([[False], is_left[:-1]], axis=0)
    run_starts = tf.cast(tf.where(starts_run)[:, 0], tf.int32)
    run = tf.cumsum(tf.cast(starts_run, tf.int32))
    return (position - tf.gather(tf.concat([[0], run_starts], axis=0), run)) % 2 == 0


def _parts_come_first(pairs: np.ndarray, results: np.ndarray, vocabulary_size: int) -> bool:
    """Return whether each merge comes after every merge that makes one of its parts."""
    last_made = np.full(vocabulary_size, -1)
    last_made[results] = np.arange(len(results))  # of equal ids the last one stays
    return bool((last_made[pairs] < np.arange(len(pairs))[:, np.newaxis]).all())
