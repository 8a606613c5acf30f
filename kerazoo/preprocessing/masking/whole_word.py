"""Whole-word masking: all pieces of a word or none."""

import tensorflow as tf

from kerazoo.preprocessing.masking.visiting_order import cut_to_limit, visit_in_random_order
from kerazoo.preprocessing.word_boundaries import Units


def select_whole_words(words: Units, counts: tf.Tensor, limit: int, seed: tf.Tensor) -> tf.Tensor:
    """Choose whole words; see `number_whole_words`.

    Returns:
        (batch, seq) bool.
    """
    return number_whole_words(words, counts, limit, seed) > 0


def number_whole_words(words: Units, counts: tf.Tensor, limit: int, seed: tf.Tensor) -> tf.Tensor:
    """Choose words in random order, skipping each that does not fit into what is left.

    A row in which no word fits gets one random word: of those that have at most `limit` pieces, or
    else the first `limit` pieces of any.

    Args:
        words: the words of the batch.
        counts: (batch,) int32, pieces to choose in each row.
        limit: int, the most pieces of any row.
        seed: (2,) int32.

    Returns:
        (batch, seq) int32, 1 on chosen pieces, 0 elsewhere.
    """

    def visit(order: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        accepted, missing = _accept_what_fits(words, order, counts)
        chosen = tf.boolean_mask(order, accepted)
        nothing = tf.zeros_like(words.size)
        return (
            tf.tensor_scatter_nd_update(nothing, chosen[:, tf.newaxis], tf.ones_like(chosen)),
            missing,
        )

    chosen = visit_in_random_order(words, counts, limit, seed, visit)
    return cut_to_limit(words, chosen, limit)


def _accept_what_fits(
    words: Units, order: tf.Tensor, counts: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return which words of each row are accepted, (batch, visits) bool, and the pieces missing.

    Going through the words one by one is not needed: up to the first one that does not fit, a
    running total decides about all at once. From there on only words that fit into the rest are
    left, and the same is repeated with them; mostly once or twice.
    """
    sizes = tf.gather(words.size, tf.maximum(order, 0))
    is_left = order >= 0

    def accept(
        accepted: tf.Tensor, is_left: tf.Tensor, missing: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        total = tf.cumsum(tf.where(is_left, sizes, 0), axis=1)
        # Totals only grow, so all words before the first misfit are within.
        fits = is_left & (total <= missing[:, tf.newaxis])
        accepted = accepted | fits
        missing = missing - tf.reduce_max(tf.where(fits, total, 0), axis=1)
        is_left = is_left & ~fits & (sizes <= missing[:, tf.newaxis])
        return accepted, is_left, missing

    accepted, _, missing = tf.while_loop(
        lambda accepted, is_left, missing: tf.reduce_any(is_left),
        accept,
        (tf.zeros_like(is_left), is_left & (sizes <= counts[:, tf.newaxis]), counts),
    )
    return accepted, missing
