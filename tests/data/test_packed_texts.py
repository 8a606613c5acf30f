from itertools import pairwise

import numpy as np
import pytest

from kerazoo.data.packed_texts import (
    fill_rows,
    lines_as_documents,
    packed_continuations,
    packed_texts,
)
from kerazoo.data.token_block import TokenBlock


def block_of(*documents):
    """A block of documents, each the lengths of its segments."""
    lengths = [length for document in documents for length in document]
    return TokenBlock(
        ids=np.arange(sum(lengths)),
        word_starts=None,
        segment_starts=np.cumsum([0, *lengths]),
        document_starts=np.cumsum([0, *map(len, documents)]),
    )


def texts_of(rows):
    return sorted(text for row in rows for text in row)


def test_rows_are_filled_by_the_best_fit():
    assert fill_rows([3, 7, 5, 2, 4, 10, 3], 10) == [[5], [1, 0], [2, 4], [6, 3]]
    assert fill_rows([], 10) == []


def test_no_row_is_too_long_and_hardly_a_position_is_empty():
    lengths = np.random.default_rng(2).integers(3, 70, size=3000).tolist()
    rows = fill_rows(lengths, 128)
    assert sorted(text for row in rows for text in row) == list(range(3000))
    filled = [sum(lengths[text] for text in row) for row in rows]
    assert max(filled) <= 128
    assert sum(filled) / (128 * len(rows)) > 0.99


def test_documents_are_cut_between_segments():
    rows = list(packed_texts(block_of([4, 3], [2], [5, 4, 3], [12]), 8, 2, "documents"))
    # Whole documents; of the third the last two segments fit together; the last is cut anywhere.
    assert texts_of(rows) == [(0, 7), (7, 9), (9, 14), (14, 21), (21, 29), (29, 33)]
    assert max(sum(end - begin + 2 for begin, end in row) for row in rows) <= 10


def test_lines_are_texts_of_their_own():
    rows = list(packed_texts(block_of([4, 3], [2], [5, 11]), 8, 2, "lines"))
    assert texts_of(rows) == [(0, 4), (4, 7), (7, 9), (9, 14), (14, 22), (22, 25)]


def test_a_long_text_goes_on_with_its_last_target():
    rows = list(packed_continuations(block_of([3], [12], [2], [1], [6]), 6))
    # Nothing is predicted within a text of one token.
    assert texts_of(rows) == [(0, 3), (3, 9), (8, 14), (13, 15), (15, 17), (18, 24)]
    targets = [n for begin, end in texts_of(rows) for n in range(begin + 1, end)]
    assert targets == sorted({*range(24)} - {0, 3, 15, 17, 18})
    assert max(sum(end - begin for begin, end in row) for row in rows) == 6


@pytest.mark.parametrize("packing", ["documents", "lines"])
def test_every_token_is_in_one_text(packing):
    random = np.random.default_rng(3)
    documents = [random.integers(1, 15, size=size).tolist() for size in random.integers(1, 6, 40)]
    block = block_of(*documents)
    texts = texts_of(packed_texts(block, 9, 2, packing))
    assert texts[0][0] == 0 and texts[-1][1] == len(block.ids)
    assert all(first[1] == second[0] for first, second in pairwise(texts))
    lines = block.segment_starts
    borders = lines if packing == "lines" else lines[block.document_starts]
    assert set(borders) <= {begin for begin, _ in texts} | {len(block.ids)}


def test_lines_become_documents():
    assert lines_as_documents([["a", "b"], ["c"]]) == [["a"], ["b"], ["c"]]
