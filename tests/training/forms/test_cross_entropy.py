import math

import pytest

from kerazoo.training.forms.cross_entropy import mean_cross_entropy


def test_it_is_the_mean_of_minus_the_logarithm():
    expected = (math.log(2) + math.log(4) + 0) / 3
    assert mean_cross_entropy(iter([0.5, 0.25, 1.0])) == pytest.approx(expected)


def test_a_probability_that_was_rounded_to_zero_is_finite():
    assert 80 < mean_cross_entropy([0.0]) < 90
