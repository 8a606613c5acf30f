import numpy as np
import pytest

from kerazoo.metrics.correlation import correlation_report, pearson, spearman


def test_pearson_equals_numpys():
    random = np.random.default_rng(0)
    a = random.normal(size=37)
    b = 0.6 * a + random.normal(size=37)
    assert pearson(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert pearson(a, -3 * a + 2) == pytest.approx(-1)


def test_spearman_is_pearson_of_ranks_and_ties_share_one():
    # Ranks by hand: 10 → 1, 20 → 2.5 twice, 30 → 4; 3 → 1, 5 → 2, 7 → 3.5 twice.
    expected = np.corrcoef([1, 2.5, 2.5, 4], [3.5, 1, 2, 3.5])[0, 1]
    assert spearman([10, 20, 20, 30], [7, 3, 5, 7]) == pytest.approx(expected)
    x = np.array([0.1, 5.0, -2.0, 9.0, 3.3])
    assert spearman(x, np.exp(x)) == pytest.approx(1)
    assert pearson(x, np.exp(x)) < 0.9


def test_a_column_that_does_not_vary_correlates_with_nothing():
    assert pearson([2, 2, 2], [1, 5, 3]) == 0
    assert spearman([1, 5, 3], [2, 2, 2]) == 0


def test_the_report_holds_both_and_the_squared_error():
    report = correlation_report([1.0, 2.0, 4.0], [1.5, 2.0, 3.0])
    assert report["rows"] == 3
    assert report["loss"] == pytest.approx((0.25 + 0 + 1) / 3)
    assert report["spearman"] == pytest.approx(1)
    assert report["pearson"] == pytest.approx(np.corrcoef([1, 2, 4], [1.5, 2, 3])[0, 1])


@pytest.mark.parametrize(("expected", "answered"), [([], []), ([1.0], [1.0, 2.0])])
def test_rows_must_match(expected, answered):
    with pytest.raises(ValueError, match=f"Received: {len(expected)} true scores"):
        correlation_report(expected, answered)
