"""Whole-word masking: all pieces of a word or none."""

import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.masking.visiting_order import (
    NOT_VISITED,
    Visited,
    choose_in_random_order,
)
from kerazoo.preprocessing.word_boundaries import Units

_ROUNDS = 3  # without a loop, which costs as much as one of them; hardly a row needs more


def select_whole_words(
    words: Units, counts: tf.Tensor, limit: int, seed: tf.Tensor, part: BatchPart = WHOLE
) -> Chosen:
    """Choose words in random order, skipping each that does not fit into what is left.

    A row in which no word fits gets one random word: of those that have at most `limit` pieces, or
    else the first `limit` pieces of any.

    Args:
        words: the words of the batch.
        counts: (batch,) int32, pieces to choose in each row.
        limit: int, the most pieces of any row.
        seed: (2,) int32.
        part: which rows of a batch these are.

    Returns:
        The chosen pieces.
    """

    def visit(order: tf.Tensor, so_far: Visited, to_the_end: bool) -> Visited:
        is_accepted, missing, is_left = _accept_what_fits(words, order, so_far.missing, to_the_end)
        accepted = tf.boolean_mask(order, is_accepted)[:, tf.newaxis]
        ones = tf.ones_like(accepted[:, 0])
        numbers = tf.tensor_scatter_nd_update(so_far.numbers, accepted, ones)
        return Visited(numbers, missing, so_far.visits + tf.shape(order)[1], tf.reduce_any(is_left))

    return choose_in_random_order(words, counts, limit, seed, visit, part)


def _accept_what_fits(
    words: Units, order: tf.Tensor, counts: tf.Tensor, to_the_end: bool
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return which words are accepted, how many pieces are missing, and which words are left.

    Going through the words one by one is not needed: up to the first one that does not fit, a
    running total decides about all at once. From there on only words that fit into the rest are
    left, and the same is repeated with them.
    """
    sizes = tf.cast(tf.gather(words.size, tf.maximum(order, 0)), tf.float32)
    nothing = tf.zeros_like(sizes)
    # A product with a triangle of ones adds up three times as fast as `tf.cumsum`.
    visits = tf.shape(order)[1]
    triangle = tf.linalg.band_part(tf.ones([visits, visits]), 0, -1)
    counts = tf.cast(counts, tf.float32)

    def accept(
        is_accepted: tf.Tensor, missing: tf.Tensor, is_left: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        total = tf.matmul(tf.where(is_left, sizes, nothing), triangle)
        # Totals only grow, so the words that fit are those before the first that does not.
        fits = is_left & (total <= missing[:, tf.newaxis])
        missing = missing - tf.reduce_max(tf.where(fits, total, nothing), axis=1)
        # A loop's state keeps its shape; that of a single row would be forgotten.
        missing = tf.ensure_shape(missing, counts.shape)
        is_left = is_left & ~fits & (sizes <= missing[:, tf.newaxis])
        return is_accepted | fits, missing, is_left

    is_left = (order != NOT_VISITED) & (sizes <= counts[:, tf.newaxis])
    state = tf.zeros_like(is_left), counts, is_left
    if to_the_end:
        state = tf.while_loop(lambda *state: tf.reduce_any(state[-1]), accept, state)
    else:
        for _ in range(_ROUNDS):
            state = accept(*state)
    is_accepted, missing, is_left = state
    return is_accepted, tf.cast(missing, tf.int32), is_left
