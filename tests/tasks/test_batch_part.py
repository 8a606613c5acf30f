import numpy as np
import pytest
from keras import ops

from kerazoo.tasks.batch_part import BatchPart, row_count


def numbers(**values):
    return {name: ops.convert_to_tensor(value, "float32") for name, value in values.items()}


def test_the_mean_over_parts_is_that_of_the_whole():
    weights, losses = np.array([0.5, 2.0, 3.0, 0.0, 1.5]), np.array([4.0, 1.0, 2.0, 9.0, 3.0])
    whole = numbers(words=weights.sum(), rows=5)
    means = []
    for part in (slice(0, 3), slice(3, 5)):
        w = weights[part]
        of_part = BatchPart(numbers(words=w.sum(), rows=len(w)), whole, 2)
        means.append(float(of_part.factor("words")) * np.average(losses[part], weights=w))
        assert float(of_part.rows_of_mean) == 2.5
    assert np.mean(means) == pytest.approx(np.average(losses, weights=weights), rel=1e-6)


def test_without_weight_there_is_no_part():
    part = BatchPart(numbers(rows=0), numbers(rows=0), 3)
    assert float(part.factor("rows")) == 0


def test_rows_are_those_of_the_first_input():
    assert row_count({"a": None, "b": ops.zeros((4, 3))}) == 4
