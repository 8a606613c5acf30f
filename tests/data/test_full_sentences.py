import numpy as np
import pytest

from kerazoo.data.full_sentences import full_sentence_rows
from kerazoo.data.token_block import TokenBlock


def block_of(documents):
    lengths = [length for document in documents for length in document]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    counts = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    return TokenBlock(np.arange(starts[-1]), None, starts, counts)


@pytest.mark.parametrize(
    ("documents", "rows"),
    [
        ([[3, 4]], [[(0, 7)]]),
        ([[3, 4, 4]], [[(0, 7)], [(7, 11)]]),
        # The separator between two documents is a token too.
        ([[3], [6]], [[(0, 3), (3, 9)]]),
        ([[3], [7]], [[(0, 3)], [(3, 10)]]),
        ([[3], [2], [1, 1]], [[(0, 3), (3, 5), (5, 7)]]),
        # A long segment is cut into rows, and goes on with what follows.
        ([[2, 23, 4, 4]], [[(0, 2)], [(2, 12)], [(12, 22)], [(22, 29)], [(29, 33)]]),
        ([[10], [1]], [[(0, 10)], [(10, 11)]]),
    ],
)
def test_rows_are_as_many_segments_as_fit(documents, rows):
    assert list(full_sentence_rows(block_of(documents), 10)) == rows


def test_no_token_is_lost():
    random = np.random.default_rng(3)
    block = block_of([list(random.integers(1, 30, random.integers(1, 8))) for _ in range(40)])
    rows = list(full_sentence_rows(block, 19))
    tokens = [token for row in rows for a, b in row for token in range(a, b)]
    assert tokens == list(range(len(block.ids)))
    assert max(sum(b - a for a, b in row) + len(row) - 1 for row in rows) <= 19
