"""Units in random order, as the reference visits them, and what becomes of rows where none fits."""

from collections.abc import Callable

import tensorflow as tf

from kerazoo.preprocessing.masking.random_keys import NOT_A_CANDIDATE, random_keys
from kerazoo.preprocessing.word_boundaries import Units

NOT_VISITED = -1
"""Stands for a unit where a row has fewer candidates than others."""

Visit = Callable[[tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
"""From units in order, (batch, visits) int32, to (visit number + 1 of each chosen unit, 0 for the
others; tokens that are still to be chosen): (units,) int32 and (batch,) int32."""


def visit_in_random_order(
    units: Units, counts: tf.Tensor, limit: int, seed: tf.Tensor, visit: Visit
) -> tf.Tensor:
    """Let `visit` choose among the units of each row in random order.

    Sorting all of them is dear, and as a rule the first ones are enough: `visit` gets these, and
    all of them only if a row is not full after them.

    Args:
        units: what is visited.
        counts: (batch,) int32, tokens to choose in each row.
        limit: int, the most tokens of any row, also for a unit that is longer than its row's count.
        seed: (2,) int32.
        visit: chooses; given more units, it must decide the same about the first ones.

    Returns:
        (units,) int32, 0 for units that are not chosen; units of a row with the same other number
        were chosen together.
    """
    keys = random_keys(units.is_first, seed)
    width = tf.shape(keys)[1]
    few = tf.minimum(first_visits(limit), width)
    chosen, missing = visit(_ordered(units, keys, few))
    candidates = tf.math.count_nonzero(units.is_first, axis=1, dtype=tf.int32)
    chosen, missing = tf.cond(
        tf.reduce_any((missing > 0) & (candidates > few)),
        lambda: visit(_ordered(units, keys, width)),
        lambda: (chosen, missing),
    )
    has_none = (missing == counts) & (candidates > 0)
    return tf.cond(
        tf.reduce_any(has_none),
        lambda: _choose_one(units, keys, has_none, limit, chosen),
        lambda: chosen,
    )


def first_visits(limit: int) -> int:
    """Return how many units of a row are visited at first."""
    return limit + limit // 4 + 4


def _ordered(units: Units, keys: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Return the units of the largest keys of each row, (batch, count) int32."""
    values, positions = tf.math.top_k(keys, count)
    row_start = tf.range(tf.shape(keys)[0])[:, tf.newaxis] * tf.shape(keys)[1]
    ordered = tf.gather(units.of_position, positions + row_start)
    return tf.where(values > NOT_A_CANDIDATE, ordered, NOT_VISITED)


def _choose_one(
    units: Units, keys: tf.Tensor, has_none: tf.Tensor, limit: int, chosen: tf.Tensor
) -> tf.Tensor:
    """Choose one random unit in rows where each is longer than the count: one that fits the slots.

    If none does, it is any of them; `cut_to_limit` then takes its first tokens.
    """
    ordered = tf.boolean_mask(_ordered(units, keys, tf.shape(keys)[1]), has_none)
    fits = (tf.gather(units.size, tf.maximum(ordered, 0)) <= limit) & (ordered >= 0)
    which = tf.argmax(fits, axis=1)
    one = tf.gather(ordered, which, axis=1, batch_dims=1)
    return tf.tensor_scatter_nd_update(chosen, one[:, tf.newaxis], tf.ones_like(one))


def cut_to_limit(units: Units, visits: tf.Tensor, limit: int) -> tf.Tensor:
    """Return the visit numbers of positions, 0 beyond the first `limit` tokens of a unit.

    Args:
        units: what was visited.
        visits: (units,) int32.
        limit: int.

    Returns:
        (batch, seq) int32.
    """
    is_long = (visits > 0) & (units.size > limit)
    of_positions = units.to_positions(visits)

    def cut() -> tf.Tensor:
        number = tf.range(tf.size(units.of_position)) - tf.gather(units.first, units.of_position)
        return tf.where(tf.reshape(number < limit, tf.shape(of_positions)), of_positions, 0)

    return tf.cond(tf.reduce_any(is_long), cut, lambda: of_positions)
