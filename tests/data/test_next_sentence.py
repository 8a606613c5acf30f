from random import Random

import numpy as np
import pytest

from kerazoo.data.next_sentence import NEXT, RANDOM, SentencePair, sentence_pairs
from kerazoo.data.token_block import TokenBlock


def block_of(documents):
    """A block whose tokens are numbered; `documents` are lists of segment lengths."""
    lengths = [length for document in documents for length in document]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    counts = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    return TokenBlock(np.arange(starts[-1]), None, starts, counts)


def random_block(seed, documents=13, longest=17):
    random = np.random.default_rng(seed)
    return block_of(
        [list(random.integers(1, longest, random.integers(1, 9))) for _ in range(documents)]
    )


def document_of(block, token):
    segment = np.searchsorted(block.segment_starts, token, side="right") - 1
    return np.searchsorted(block.document_starts, segment, side="right") - 1


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_is_of_its_kind(seed):
    block = random_block(seed)
    pairs = list(sentence_pairs(block, 23, 0.1, Random(seed)))
    labels = [pair.label for pair in pairs]
    assert {NEXT, RANDOM} == set(labels)
    for a, a_end, b, b_end, label in pairs:
        assert a < a_end and b < b_end
        assert a_end - a + b_end - b <= 23
        # Each text is of one document.
        first, second = document_of(block, a), document_of(block, b)
        assert first == document_of(block, a_end - 1)
        assert second == document_of(block, b_end - 1)
        assert (first == second) == (label == NEXT)
        if label == NEXT:
            assert b >= a_end


def test_no_segment_is_lost_where_nothing_has_to_be_cut():
    block = random_block(3, longest=5)
    pairs = list(sentence_pairs(block, 23, 0.0, Random(11)))
    covered = []
    for a, a_end, b, b_end, label in pairs:
        covered += [*range(a, a_end), *(range(b, b_end) if label == NEXT else ())]
        # Both texts consist of whole segments, next to each other if the second one follows.
        assert {a, a_end, b, b_end} <= set(
            block.segment_starts.tolist()
        ) or a_end - a + b_end - b == 23
        if label == NEXT:
            assert a_end == b
    # Tokens may be cut off, but no segment of a first text or a true next one is left out.
    starts = block.segment_starts
    seen = {int(np.searchsorted(starts, token, side="right")) for token in covered}
    assert seen == set(range(1, len(starts)))


def test_unused_segments_are_put_back():
    """After a random second text, the first text of the next pair is what would have followed."""
    block = block_of([[4] * 40, [4] * 40])
    pairs = list(sentence_pairs(block, 12, 0.0, Random(2)))
    for pair, following in zip(pairs, pairs[1:], strict=False):
        if document_of(block, pair.first_start) == document_of(block, following.first_start):
            end = pair.first_end if pair.label == RANDOM else pair.second_end
            assert following.first_start == end


def test_half_of_the_pairs_that_could_be_next_are_random():
    block = block_of([[5] * 600, [5] * 600, [5] * 600])
    labels = [pair.label for pair in sentence_pairs(block, 20, 0.0, Random(5))]
    # 0.5 within five standard errors; the last pairs of documents may have one segment.
    assert abs(np.mean(labels) - 0.5) < 5 * 0.5 / len(labels) ** 0.5 + 3 / len(labels)


def test_single_segments_always_get_a_random_text():
    block = block_of([[30], [30], [30], [30]])
    pairs = list(sentence_pairs(block, 17, 0.0, Random(5)))
    assert [pair.label for pair in pairs] == [RANDOM] * 4
    others = [document_of(block, pair.second_start) for pair in pairs]
    assert all(other != number for number, other in enumerate(others))


def test_random_texts_come_from_all_other_documents():
    block = block_of([[9]] + [[9, 9]] * 5)
    seen = set()
    for seed in range(200):
        pair = next(sentence_pairs(block, 11, 0.0, Random(seed)))
        seen.add((document_of(block, pair.second_start), pair.second_start // 9))
    # Which segment it begins in: each of the ten, and none of the first document.
    assert {segment for _, segment in seen} == set(range(1, 11))


def test_a_random_text_never_begins_as_the_true_next_one():
    """The corpus has copies of one document (P51: the "random" next was the true one)."""
    ids = np.tile(np.arange(12), 3)
    starts = np.arange(0, 37, 4)
    block = TokenBlock(ids, None, starts, np.array([0, 3, 6, 9]))
    for seed in range(40):
        for pair in sentence_pairs(block, 8, 0.0, Random(seed)):
            if pair.label == RANDOM and pair.first_end % 12:
                assert ids[pair.second_start] != ids[pair.first_end]


def test_where_all_segments_are_equal_nothing_is_called_random():
    block = TokenBlock(np.zeros(24, int), None, np.arange(0, 25, 4), np.array([0, 3, 6]))
    pairs = list(sentence_pairs(block, 8, 0.0, Random(0)))
    last_ones = [pair for pair in pairs if pair.label == RANDOM]
    # Behind the last segment of a document nothing follows that a text could be equal to.
    assert all(pair.first_end in (12, 24) for pair in last_ones)
    assert any(pair.label == NEXT for pair in pairs)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (10, 3, (7, 3)),
        (3, 10, (3, 7)),
        (9, 9, (5, 5)),
        (8, 7, (5, 5)),
        (30, 1, (9, 1)),
        (4, 5, (4, 5)),
    ],
)
def test_the_longer_text_is_cut_token_by_token(first, second, kept):
    """Against Google's loop: the first text is cut if it is longer, else the second."""
    lengths = [first, second]
    while sum(lengths) > 10:
        lengths[0 if lengths[0] > lengths[1] else 1] -= 1
    assert tuple(lengths) == kept
    block = block_of([[first, second], [40]])
    pairs = (next(sentence_pairs(block, 10, 0.0, Random(s))) for s in range(400))
    fitting = [p for p in pairs if p.label == NEXT]
    if first + second <= 10:
        assert {(p.first_end - p.first_start, p.second_end - p.second_start) for p in fitting} == {
            kept
        }


def test_tokens_are_cut_in_front_and_at_the_back_alike():
    block = block_of([[50], [50]])
    fronts = [next(sentence_pairs(block, 20, 0.0, Random(seed))).first_start for seed in range(500)]
    # 40 of 50 tokens are cut, each in front with probability 0.5: mean 20, variance 10.
    assert abs(np.mean(fronts) - 20) < 5 * (10 / 500) ** 0.5
    assert abs(np.var(fronts) - 10) < 4


def test_a_share_of_the_documents_is_short():
    block = block_of([[1] * 30] * 400)
    lengths = {}
    for pair in sentence_pairs(block, 24, 0.25, Random(8)):
        document = int(document_of(block, pair.first_start))
        length = pair.first_end - pair.first_start + pair.second_end - pair.second_start
        lengths[document] = max(lengths.get(document, 0), length)
    # A target is drawn from 2 to 24: 22 of 23 are shorter than the row.
    share = np.mean([length < 24 for length in lengths.values()])
    expected = 0.25 * 22 / 23
    assert abs(share - expected) < 5 * (expected * (1 - expected) / 400) ** 0.5
    assert set(range(2, 24)) >= {length for length in lengths.values() if length < 24}


def test_the_same_random_numbers_give_the_same_pairs():
    block = random_block(4)
    one, same, other = (
        list(sentence_pairs(block, 23, 0.1, Random(seed))) for seed in ("0 7 0", "0 7 0", "0 8 0")
    )
    assert one == same
    assert one != other
    assert isinstance(one[0], SentencePair)


def test_a_single_document_is_an_error():
    with pytest.raises(ValueError, match="there is only one. Put blank lines between documents"):
        list(sentence_pairs(block_of([[3, 4, 5]]), 9, 0.1, Random(0)))
