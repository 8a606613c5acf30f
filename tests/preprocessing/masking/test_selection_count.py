import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.masking.selection_count import selection_count, selection_counts


@pytest.mark.parametrize(
    ("length", "limit", "expected"),
    [(3, 9, 1), (10, 9, 2), (30, 9, 4), (50, 9, 8), (130, 50, 20), (170, 50, 26), (512, 20, 20)],
)
def test_counts_round_half_to_even(length, limit, expected):
    """1.5, 4.5, 7.5, 19.5 and 25.5 are halves; the last is at its limit."""
    assert selection_count(length, 0.15, limit) == expected


def test_a_batch_counts_as_single_rows_do():
    lengths = np.arange(1, 513, dtype="int32")
    counts = selection_counts(tf.constant(lengths), 0.15, 61)
    assert counts.numpy().tolist() == [selection_count(int(n), 0.15, 61) for n in lengths]
