"""Units in random order, as the reference visits them, and what becomes of rows where none fits."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.word_boundaries import Units

NOT_VISITED = -1
"""Stands for a unit where a row has fewer candidates than others."""

_NOT_A_CANDIDATE = tf.int32.min


@dataclasses.dataclass(frozen=True)
class Visited:
    """What has been chosen among the units that were visited so far.

    Args:
        numbers: (units,) int32, 0 for units that are not chosen; units of a row that were chosen
            together have the same other number.
        missing: (batch,) int32, tokens that are still to be chosen.
        visits: () int32, how many units of each row were visited.
        is_unfinished: () bool, whether a unit that might fit was passed over.
    """

    numbers: tf.Tensor
    missing: tf.Tensor
    visits: tf.Tensor
    is_unfinished: tf.Tensor | bool = False


Visit = Callable[[tf.Tensor, Visited, bool], Visited]
"""Visits units in order, (batch, visits) int32, and goes on from what has been chosen so far. With
True it must pass over no unit that fits."""


def choose_in_random_order(
    units: Units,
    counts: tf.Tensor,
    limit: int,
    seed: tf.Tensor,
    visit: Visit,
    part: BatchPart = WHOLE,
) -> Chosen:
    """Let `visit` choose among the units of each row in random order.

    Sorting all units is dear, and as a rule the first ones are enough. What is needed otherwise
    stands in one function that is called at need: of the other units, it visits those that fit into
    what is missing in their row. (The first ones are chosen, or were too large already.)

    Args:
        units: what is visited.
        counts: (batch,) int32, tokens to choose in each row.
        limit: int, the most tokens of any row.
        seed: (2,) int32.
        visit: chooses.
        part: which rows of a batch these are.

    Returns:
        The chosen tokens. In a row where no unit fits into the count, one random unit is chosen: of
        those that fit into `limit`, or else the first `limit` tokens of any.
    """
    keys = _random_keys(units, seed, part)
    beside = _beside(units, keys)
    width = tf.shape(beside)[1]
    order = _ordered(units, beside, tf.minimum(first_visits(limit), width))
    nothing = Visited(tf.zeros_like(units.size), counts, tf.constant(0))
    visited = visit(order, nothing, False)
    is_visited = order != NOT_VISITED
    has_none = (visited.missing == counts) & tf.reduce_any(is_visited, axis=1)
    needs_more = (visited.missing > 0) & (has_none | tf.reduce_all(is_visited, axis=1))

    def go_on() -> tf.Tensor:
        missing = tf.repeat(visited.missing, units.row_splits[1:] - units.row_splits[:-1])
        may_fit = (visited.numbers == 0) & (units.size <= missing)
        rest = _beside(units, tf.where(may_fit, keys, _NOT_A_CANDIDATE))
        every = visit(_ordered(units, rest, width), visited, True)
        is_empty = (every.missing == counts) & tf.reduce_any(is_visited, axis=1)
        order_of_empty = tf.boolean_mask(_ordered(units, beside, width), is_empty)
        return _choose_one(units, order_of_empty, limit, every.numbers)

    if not tf.executing_eagerly():
        # TensorFlow passes through every operation of a branch that is not taken, but not through
        # those of a function.
        go_on = tf.function(go_on, experimental_attributes={"_noinline": True})
    numbers = tf.cond(
        tf.reduce_any(needs_more) | visited.is_unfinished, go_on, lambda: visited.numbers
    )
    return units.chosen(numbers, limit)


def first_visits(limit: int) -> int:
    """Return how many units of a row are visited at first."""
    return limit + limit // 4 + 4


def _random_keys(units: Units, seed: tf.Tensor, part: BatchPart = WHOLE) -> tf.Tensor:
    """Return a random key for each candidate, (units,) int32, and the least for the others."""
    drawn = units.draw(part, seed, minval=None, maxval=None, dtype=tf.int32)
    return tf.where(units.is_candidate, drawn, tf.fill(tf.shape(drawn), _NOT_A_CANDIDATE))


def _beside(units: Units, keys: tf.Tensor) -> tf.Tensor:
    """Return the keys of each row side by side: (units,) -> (batch, seq)."""
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
