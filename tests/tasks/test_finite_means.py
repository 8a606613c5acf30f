import keras
import numpy as np
import pytest

from kerazoo.optimizers.adamw import create_optimizer
from kerazoo.tasks.finite_means import FiniteMeans

ROWS = np.arange(30, dtype="float32").reshape(10, 3) / 10
TARGETS = ROWS[:, :2]


class Model(FiniteMeans, keras.Sequential):
    """A dense layer whose means are those of finite steps."""


def history(on_non_finite, rows):
    keras.utils.set_random_seed(3)
    model = Model([keras.Input((3,)), keras.layers.Dense(2)])
    # A rate of zero, so that the steps left out change nothing for those after them.
    model.compile(create_optimizer(0.0, on_non_finite=on_non_finite), "mse", metrics=["mae"])
    return model.fit(rows, TARGETS[: len(rows)], 4, epochs=2, shuffle=False, verbose=0).history


@pytest.fixture
def spoiled():
    rows = ROWS.copy()
    rows[9, 1] = np.nan  # in the last batch
    return rows


def test_a_step_that_is_not_finite_is_in_no_mean(spoiled):
    with_it, without_it = history("skip", spoiled), history("skip", ROWS[:8])
    assert set(with_it) == {"loss", "mae"}
    for name, values in without_it.items():
        assert np.isfinite(values).all()
        np.testing.assert_allclose(with_it[name], values, rtol=1e-6)


def test_the_mean_of_no_step_is_no_number(spoiled):
    spoiled[:] = np.nan
    measured = history("skip", spoiled)
    assert set(measured) == {"loss", "mae"}
    assert np.isnan(list(measured.values())).all()


@pytest.mark.parametrize("on_non_finite", ["stop", None])
def test_it_shows_where_steps_are_not_to_be_left_out(on_non_finite, spoiled):
    assert np.isnan(history(on_non_finite, spoiled)["loss"]).all()


@pytest.mark.tensorflow
@pytest.mark.compiled
@pytest.mark.slow
def test_replicas_leave_a_step_out_together(spoiled, mirrored_strategy):
    with mirrored_strategy.scope():
        measured = history("skip", spoiled)
    assert np.isfinite(measured["loss"]).all()
    # Row 9 is all that the second replica saw of the last batch, and row 8 the first one.
    expected = history("skip", ROWS[:8])
    np.testing.assert_allclose(measured["mae"], expected["mae"], rtol=1e-5)
