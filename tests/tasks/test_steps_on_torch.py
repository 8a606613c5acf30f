import keras
import pytest
from batches_of_tasks import (
    check_same_gradients,
    check_same_history,
    crf_tags,
    fit,
    gradients_of,
)

pytestmark = pytest.mark.skipif(keras.config.backend() != "torch", reason="of PyTorch")


def test_turns_of_unequal_size_give_the_gradient_of_the_batch():
    whole, history = fit(crf_tags, 7)
    parts, of_parts = fit(crf_tags, 7, micro_batches=3)  # 3, 3 and 1 rows
    check_same_gradients(gradients_of(parts), gradients_of(whole))
    check_same_history(of_parts, history)
