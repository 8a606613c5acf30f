import keras
import pytest
from batches_of_tasks import (
    check_same_gradients,
    check_same_history,
    crf_tags,
    fit,
    gradients_of,
    masked_words,
)

from kerazoo.training.distribution import from_name

pytestmark = pytest.mark.skipif(keras.config.backend() != "jax", reason="of JAX")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "rows", "strategy", "turns"),
    [
        (masked_words, 4, "data_parallel", 1),
        (crf_tags, 5, "data_parallel", 2),
        (masked_words, 5, "model_parallel", 1),
    ],
)
def test_two_devices_give_the_gradient_of_one(loss, rows, strategy, turns):
    alone, history = fit(loss, rows)
    together, of_both = fit(loss, rows, strategy=from_name(strategy), micro_batches=turns)
    check_same_gradients(gradients_of(together), gradients_of(alone))
    check_same_history(of_both, history)


@pytest.mark.slow
def test_rows_that_are_left_over_are_a_turn_of_their_own():
    whole, _ = fit(masked_words, 7)
    parts, _ = fit(masked_words, 7, micro_batches=3)  # 3, 3 and 1 rows
    check_same_gradients(gradients_of(parts), gradients_of(whole))
