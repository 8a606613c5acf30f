import pytest

from kerazoo.data.row_source import held_out_counts


def test_the_share_holds_for_all_parts_together():
    rows = [3, 1, 9, 2, 7, 11, 4]
    counts = held_out_counts(rows, 0.25, limit=1000)
    assert sum(counts) == round(0.25 * sum(rows))
    assert all(0 <= count <= size for count, size in zip(counts, rows, strict=True))


def test_the_limit_is_spread_over_all_parts():
    assert held_out_counts([50] * 4, 0.5, limit=8) == [2, 2, 2, 2]


def test_none_and_all():
    assert held_out_counts([3, 4], 0.0, limit=10) == [0, 0]
    assert held_out_counts([3, 4], 1.0, limit=10) == [3, 4]


@pytest.mark.parametrize("fraction", [0.01, 0.95])
def test_both_sides_need_a_row(fraction):
    with pytest.raises(ValueError, match=f"both sides need one.*validation_fraction={fraction}"):
        held_out_counts([2, 3], fraction, limit=10)
