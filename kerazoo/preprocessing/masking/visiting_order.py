"""Units in random order, as the reference visits them, and what becomes of rows where none fits."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.word_boundaries import Units

NOT_VISITED = -1
"""Stands for a unit where a row has fewer candidates than others."""

_NOT_A_CANDIDATE = tf.int32.min


@dataclasses.dataclass(frozen=True)
class Visited:
    """What was chosen among the units that were visited.

    Args:
        numbers: (units,) int32, 0 for units that are not chosen; units of a row that were chosen
            together have the same other number.
        missing: (batch,) int32, tokens that are still to be chosen.
        is_unfinished: () bool, whether units that might fit were left out.
    """

    numbers: tf.Tensor
    missing: tf.Tensor
    is_unfinished: tf.Tensor | bool = False


Visit = Callable[[tf.Tensor, bool], Visited]
"""Chooses among units in order, (batch, visits) int32. With True, it must finish; given more units,
it must decide the same about the first ones."""


def choose_in_random_order(
    units: Units, counts: tf.Tensor, limit: int, seed: tf.Tensor, visit: Visit
) -> Chosen:
    """Let `visit` choose among the units of each row in random order.

    Sorting all units is dear, and as a rule the first ones are enough. What is needed otherwise
    stands in one function that is called at need.

    Args:
        units: what is visited.
        counts: (batch,) int32, tokens to choose in each row.
        limit: int, the most tokens of any row.
        seed: (2,) int32.
        visit: chooses.

    Returns:
        The chosen tokens. In a row where no unit fits into the count, one random unit is chosen: of
        those that fit into `limit`, or else the first `limit` tokens of any.
    """
    keys = _random_keys(units, seed)
    order = _ordered(units, keys, tf.minimum(first_visits(limit), tf.shape(keys)[1]))
    visited = visit(order, False)
    is_visited = order != NOT_VISITED
    has_none = (visited.missing == counts) & tf.reduce_any(is_visited, axis=1)
    needs_more = (visited.missing > 0) & (has_none | tf.reduce_all(is_visited, axis=1))

    def visit_all() -> tf.Tensor:
        order = _ordered(units, keys, tf.shape(keys)[1])
        visited = visit(order, True)
        is_empty = (visited.missing == counts) & tf.reduce_any(order != NOT_VISITED, axis=1)
        return _choose_one(units, tf.boolean_mask(order, is_empty), limit, visited.numbers)

    if not tf.executing_eagerly():
        # TensorFlow passes through every operation of a branch that is not taken, but not through
        # those of a function.
        visit_all = tf.function(visit_all, experimental_attributes={"_noinline": True})
    numbers = tf.cond(
        tf.reduce_any(needs_more) | visited.is_unfinished, visit_all, lambda: visited.numbers
    )
    return units.chosen(numbers, limit)


def first_visits(limit: int) -> int:
    """Return how many units of a row are visited at first."""
    return limit + 4


def _random_keys(units: Units, seed: tf.Tensor) -> tf.Tensor:
    """Return a random key for each candidate of a row, side by side, (batch, seq) int32."""
    shape = tf.shape(units.first)
    drawn = tf.random.stateless_uniform(shape, seed, minval=None, maxval=None, dtype=tf.int32)
    keys = tf.where(units.is_candidate, drawn, tf.fill(shape, _NOT_A_CANDIDATE))
    rows = tf.RaggedTensor.from_row_splits(keys, units.row_splits, validate=False)
    return rows.to_tensor(_NOT_A_CANDIDATE, shape=tf.stack([-1, units.width]))


def _ordered(units: Units, keys: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Return the units of the largest keys of each row, (batch, count) int32."""
    values, numbers = tf.math.top_k(keys, count)
    ordered = numbers + tf.cast(units.row_splits[:-1, tf.newaxis], tf.int32)
    return tf.where(values > _NOT_A_CANDIDATE, ordered, tf.fill(tf.shape(ordered), NOT_VISITED))


def _choose_one(units: Units, order: tf.Tensor, limit: int, numbers: tf.Tensor) -> tf.Tensor:
    """Choose the first unit of each row that has at most `limit` tokens, or else the first."""
    fits = (tf.gather(units.size, tf.maximum(order, 0)) <= limit) & (order != NOT_VISITED)
    one = tf.gather(order, tf.argmax(fits, axis=1), axis=1, batch_dims=1)
    return tf.tensor_scatter_nd_update(numbers, one[:, tf.newaxis], tf.ones_like(one))
