import pytest
import tensorflow as tf

from kerazoo.tokenizers.token_rows import row_of_each_token


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[7, 7, 7], [7], [7, 7]], [0, 0, 0, 1, 2, 2]),
        ([[], [7, 7], [], [], [7], []], [1, 1, 4]),
        ([[], []], []),
        ([], []),
    ],
)
def test_row_of_each_token(rows, expected):
    tokens = tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=1)
    assert row_of_each_token(tokens).numpy().tolist() == expected
    assert tokens.value_rowids().numpy().tolist() == expected
