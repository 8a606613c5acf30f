import numpy as np
import pytest

from kerazoo.analysis.running_mean import RunningMean


def filled(values):
    running = RunningMean(values.shape[1:])
    for value in values:
        running.add(value)
    return running


def test_mean_and_interval_are_those_of_all_values_together():
    from scipy import stats

    values = np.random.default_rng(0).normal(1e6, 2.0, size=(11, 2, 3))
    running = filled(values)
    np.testing.assert_allclose(running.mean, values.mean(axis=0), rtol=1e-12)
    low, high = stats.t.interval(0.9, 10, values.mean(axis=0), stats.sem(values, axis=0))
    np.testing.assert_allclose(running.half_width(0.9), (high - low) / 2, rtol=1e-6)


def test_missing_values_are_left_out_one_by_one():
    values = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [8.0, np.nan, np.nan]])
    running = filled(values)
    np.testing.assert_allclose(running.mean, [4.0, 5.0, np.nan])
    assert running.count.tolist() == [3, 1, 0]
    assert np.isnan(running.half_width()).tolist() == [False, True, True]


def test_a_confidence_is_a_share():
    with pytest.raises(ValueError, match="confidence=95"):
        RunningMean((2,)).half_width(95)
