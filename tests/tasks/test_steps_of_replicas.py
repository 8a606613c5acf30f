import numpy as np
import pytest
import tensorflow as tf
from batches_of_tasks import (
    check_same_gradients,
    check_same_history,
    check_same_weights,
    classes,
    crf_tags,
    fit,
    gradients_of,
    language_model_beside,
    masked_words,
)

from kerazoo.tasks.steps_of_replicas import _rows_of_turn, at_least_a_row, first_rows

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize(("loss", "rows"), [(masked_words, 5), (classes, 1)])
def test_two_replicas_give_the_gradient_of_one_device(loss, rows, mirrored_strategy):
    alone, history = fit(loss, rows)
    together, of_both = fit(loss, rows, strategy=mirrored_strategy)
    check_same_gradients(gradients_of(together), gradients_of(alone))
    check_same_history(of_both, history)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("loss", "turns"), [(crf_tags, 1), (language_model_beside, 2)])
def test_compiled_replicas_reach_the_weights_of_one_device(loss, turns, mirrored_strategy):
    # 9 rows in batches of 4: the last has one, which leaves a replica empty.
    alone, history = fit(loss, 9, 4)
    twice = turns == 2  # computing blocks twice changes nothing either
    together, of_both = fit(loss, 9, 4, mirrored_strategy, turns, rematerialize=twice)
    check_same_weights(together, alone, loss)
    check_same_history(of_both, history)


def test_no_rows_become_a_row_of_zeros_and_others_stay():
    data = ({"ids": tf.ones((0, 3), "int32")}, tf.ones((0,)), None)
    x, y, weights = at_least_a_row(data)
    assert x["ids"].numpy().tolist() == [[0, 0, 0]]
    assert y.numpy().tolist() == [0]
    assert weights is None
    some = tf.range(4)
    assert at_least_a_row((some,))[0] is some


def test_a_number_of_rows_that_is_not_known_is_looked_at():
    function = tf.function(at_least_a_row, input_signature=[tf.TensorSpec((None, 2))])
    np.testing.assert_array_equal(function(tf.ones((0, 2))), [[0, 0]])
    np.testing.assert_array_equal(function(tf.ones((3, 2))), np.ones((3, 2)))


def test_first_rows():
    x, y = first_rows(({"a": tf.range(5)}, None), 2)
    assert (x["a"].numpy().tolist(), y) == ([0, 1], None)


def test_xla_compiles_turns_whose_last_has_fewer_rows():
    """So `jit_compile=True` and a dry run of steps of any shape take `--accumulate`."""

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec((None, None))])
    def total(values):
        rows = tf.shape(values)[0]

        def add(turn, sums):
            return turn + 1, sums + tf.reduce_sum(_rows_of_turn(values, turn, rows, 3), axis=0)

        return tf.while_loop(lambda turn, _: 3 * turn < rows, add, (0, tf.zeros((2,))))[1]

    np.testing.assert_array_equal(total(np.arange(14.0).reshape(7, 2)), [42, 49])
