"""N-gram masking: runs of one to four words, or tokens."""

from collections.abc import Sequence

import tensorflow as tf

from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.masking.visiting_order import (
    NOT_VISITED,
    Visited,
    choose_in_random_order,
)
from kerazoo.preprocessing.word_boundaries import Units

NGRAM_WEIGHTS = (0.4, 0.3, 0.2, 0.1)
"""How often n-grams of length 1, 2, 3 and 4 are drawn."""

_AT_ONCE = 2  # visits in one pass of the loop, which has a cost of its own
_TAKEN = 1 << 20  # more tokens than any row has; units that are not free have this size


def select_ngrams(
    units: Units,
    counts: tf.Tensor,
    limit: int,
    seed: tf.Tensor,
    weights: Sequence[float] = NGRAM_WEIGHTS,
    part: BatchPart = WHOLE,
) -> Chosen:
    """Choose n-grams that start in random order and do not overlap.

    Starts are visited in random order. A start that is chosen already is passed over. Else a
    length is drawn and shortened to the end of the text, the next chosen unit and what is left of
    the row's count; a unit that does not fit by itself is skipped. A row in which none fits gets
    one random unit, as in `select_whole_words`.

    Args:
        units: words or tokens.
        counts: (batch,) int32, tokens to choose in each row.
        limit: int, the most tokens of any row.
        seed: (2,) int32.
        weights: the shares of the lengths 1, 2, …; they sum to 1.
        part: which rows of a batch these are.

    Returns:
        The chosen tokens; those of one n-gram have a number that no other of the row has.
    """
    seeds = tf.unstack(tf.random.split(seed, 2))
    lengths = _draw_lengths(units, weights, seeds[1], part)

    def visit(order: tf.Tensor, so_far: Visited, to_the_end: bool) -> Visited:
        return _take(units, order, lengths, so_far, len(weights))

    return choose_in_random_order(units, counts, limit, seeds[0], visit, part)


def _draw_lengths(
    units: Units, weights: Sequence[float], seed: tf.Tensor, part: BatchPart = WHOLE
) -> tf.Tensor:
    """Return the length of the n-gram that would start at each unit, (units,) int32."""
    drawn = units.draw(part, seed)
    longer = [drawn >= sum(weights[: n + 1]) for n in range(len(weights) - 1)]
    return tf.add_n([tf.ones_like(units.size), *(tf.cast(flags, tf.int32) for flags in longer)])


def _take(
    units: Units, order: tf.Tensor, lengths: tf.Tensor, so_far: Visited, longest: int
) -> Visited:
    """Visit starts one after another, all rows of the batch at once.

    `sizes` holds the tokens of each unit, and at least `_TAKEN` for one that is not free: the
    running total over the units of an n-gram then exceeds every row's rest from the first on that
    is taken or too much. What is beyond the drawn length is read as a unit that is never free.
    """
    never_free = tf.size(units.size)
    sizes = tf.where(units.is_candidate, units.size, _TAKEN)
    sizes = tf.where(so_far.numbers > 0, _TAKEN + so_far.numbers, sizes)
    sizes = tf.pad(sizes, [[0, longest]], constant_values=_TAKEN)
    starts = tf.transpose(tf.where(order != NOT_VISITED, order, never_free))
    offsets = tf.range(longest)
    is_within = offsets < tf.gather(tf.pad(lengths, [[0, 1]]), starts)[..., tf.newaxis]
    reach = tf.where(is_within, starts[..., tf.newaxis] + offsets, never_free)
    reach = tf.pad(reach, [[0, _AT_ONCE], [0, 0], [0, 0]], constant_values=never_free)

    def is_going_on(number: tf.Tensor, sizes: tf.Tensor, missing: tf.Tensor) -> tf.Tensor:
        return tf.reduce_any((missing > 0) & (reach[number, :, 0] < never_free))

    def take_some(
        number: tf.Tensor, sizes: tf.Tensor, missing: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        for _ in range(_AT_ONCE):
            reached = reach[number]
            total = tf.cumsum(tf.gather(sizes, reached), axis=1)
            fits = total <= missing[:, tf.newaxis]
            missing = missing - tf.reduce_max(tf.where(fits, total, 0), axis=1)
            number += 1
            taken = tf.where(fits, _TAKEN + so_far.visits + number, 0)
            sizes = tf.tensor_scatter_nd_max(sizes, reached[..., tf.newaxis], taken)
        # A batch of a known size keeps it, as a loop demands.
        return number, sizes, tf.ensure_shape(missing, so_far.missing.shape)

    _, sizes, missing = tf.while_loop(is_going_on, take_some, (0, sizes, so_far.missing))
    numbers = tf.maximum(sizes[:-longest] - _TAKEN, 0)
    return Visited(numbers, missing, so_far.visits + tf.shape(order)[1])
