import numpy as np
import tensorflow as tf
from masking_batches import chi_square, random_batch, units_of, words_in_order

from kerazoo.preprocessing.masking.candidates import Candidates
from kerazoo.preprocessing.masking.visiting_order import (
    NOT_VISITED,
    Visited,
    choose_in_random_order,
    first_visits,
)
from kerazoo.preprocessing.word_boundaries import token_units

BATCH = random_batch(9, 23, seed=4)
UNITS = units_of(BATCH.features, BATCH.word_starts)


def visits_of(units, limit, rows=9, finish_at_once=True):
    """Return what `visit` was given each time; it chooses nothing."""
    seen = []

    def visit(order, so_far, to_the_end):
        seen.append((order.numpy(), to_the_end))
        missing = tf.fill([rows], 0 if finish_at_once else 2)
        return Visited(so_far.numbers, missing, so_far.visits + order.shape[1])

    choose_in_random_order(units, tf.ones([rows], tf.int32), limit, tf.constant([1, 1]), visit)
    return seen


def first_tokens(row, order):
    """The first positions of the words of a row that are visited."""
    visited = order[row][order[row] != NOT_VISITED]
    return (UNITS.first.numpy()[visited] - row * 23).tolist()


def test_every_word_that_fits_is_visited_if_the_first_ones_are_not_enough():
    (few, _), (others, to_the_end) = visits_of(UNITS, 3, finish_at_once=False)
    assert to_the_end
    assert few.shape[1] == first_visits(3) == 7
    for row, words in enumerate(words_in_order(BATCH, tf.constant([1, 1]))):
        assert first_tokens(row, few) == [word[0] for word in words[:7]]
        # Nothing was chosen, and two tokens are missing.
        assert first_tokens(row, others) == [word[0] for word in words if len(word) <= 2]


def test_the_first_ones_alone_are_visited_if_they_are_enough():
    ((_, to_the_end),) = visits_of(UNITS, 2)
    assert not to_the_end


def test_every_unit_is_as_often_the_first():
    flags = tf.ones([18_500, 37], tf.bool)
    ((order, _),) = visits_of(token_units(Candidates(flags, flags, flags)), 2, rows=18_500)
    counts = np.bincount(order[:, 0] % 37, minlength=37)
    assert chi_square(counts, [500] * 37) < 68  # 0.999 quantile, 36 degrees of freedom
