import numpy as np
import tensorflow as tf
from masking_batches import chi_square, random_batch, units_of

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

    def visit(order, to_the_end):
        seen.append((order.numpy(), to_the_end))
        missing = tf.fill([rows], 0 if finish_at_once else 1)
        return Visited(tf.zeros_like(units.size), missing)

    choose_in_random_order(units, tf.ones([rows], tf.int32), limit, tf.constant([1, 1]), visit)
    return seen


def test_every_word_is_visited_once_if_the_first_ones_are_not_enough():
    (few, _), (every, to_the_end) = visits_of(UNITS, 2, finish_at_once=False)
    assert to_the_end
    assert few.shape[1] == first_visits(2) == 6
    for row, words in enumerate(BATCH.words):
        visited = [unit for unit in every[row].tolist() if unit != NOT_VISITED]
        firsts = sorted(UNITS.first.numpy()[visited] - row * 23)
        assert firsts == [word[0] for word in words]
        assert few[row].tolist() == every[row, :6].tolist()


def test_the_first_ones_alone_are_visited_if_they_are_enough():
    ((_, to_the_end),) = visits_of(UNITS, 2)
    assert not to_the_end


def test_every_unit_is_as_often_the_first():
    flags = tf.ones([18_500, 37], tf.bool)
    ((order, _),) = visits_of(token_units(Candidates(flags, flags, flags)), 2, rows=18_500)
    counts = np.bincount(order[:, 0] % 37, minlength=37)
    assert chi_square(counts, [500] * 37) < 68  # 0.999 quantile, 36 degrees of freedom
