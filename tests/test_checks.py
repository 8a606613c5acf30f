import numpy as np
import pytest

from kerazoo.checks import (
    check_divisible,
    check_known_arguments,
    check_one_of,
    check_positive,
    check_rank,
    check_rate,
    is_whole_number,
)


@pytest.mark.parametrize("value", [1, 0.5, 10**9])
def test_positive_numbers_pass(value):
    check_positive("size", value)


@pytest.mark.parametrize("value", [0, -3, None, "7", True, float("nan")])
def test_other_values_are_named(value):
    with pytest.raises(ValueError, match=r"Received: size="):
        check_positive("size", value)


def test_divisible():
    check_divisible("hidden_dim", 20, "num_heads", 4)
    with pytest.raises(ValueError, match=r"Received: hidden_dim=12, num_heads=5"):
        check_divisible("hidden_dim", 12, "num_heads", 5)


def test_one_of():
    check_one_of("mode", "a", {"a": 1, "b": 2})
    with pytest.raises(ValueError, match=r"one of 'a', 'b'\. Received: mode='c'"):
        check_one_of("mode", "c", ["a", "b"])


@pytest.mark.parametrize("value", [-0.1, 1, 1.5, None, True])
def test_rates_are_at_least_zero_and_below_one(value):
    check_rate("dropout", 0)
    check_rate("dropout", 0.999)
    with pytest.raises(ValueError, match=r"Received: dropout="):
        check_rate("dropout", value)


def test_rank():
    check_rank("token_ids", np.zeros((3, 7)), 2)
    with pytest.raises(ValueError, match=r"Received: token_ids of shape \(3, 7\)"):
        check_rank("token_ids", np.zeros((3, 7)), 3)


def test_unknown_arguments_are_named():
    check_known_arguments("Thing", {"name": "a"}, ("name", "dtype"))
    with pytest.raises(TypeError, match="Thing has no such argument. Received: labl, nam"):
        check_known_arguments("Thing", {"nam": 1, "labl": 2, "name": 3}, ("name",))


def test_whole_numbers_are_pythons_and_numpys_and_no_booleans():
    assert all(map(is_whole_number, [0, -3, 2**40, np.int32(7), np.uint8(2)]))
    assert not any(map(is_whole_number, [True, np.bool_(True), 2.0, np.float32(1), "7", None]))
