from collections import Counter
from random import Random

import pytest

from kerazoo.preprocessing.masking.reference import create_masked_lm_predictions, word_candidates

MASK, DRAWN = 99, [50, 51, 52]


def masked(words, seed, masking="whole_word", count=5, limit=7, length=40):
    token_ids = list(range(length))
    options = {"masking": masking, "count": count, "limit": limit}
    return create_masked_lm_predictions(
        token_ids, words, Random(seed), mask_token_id=MASK, drawn_ids=DRAWN, **options
    )


def test_words_end_where_texts_do():
    #         [CLS]   a1     a2    UNK    u2    b    [SEP]  rest   c    [SEP]
    starts = [False, True, False, True, False, True, False, False, True, False]
    around = [position in (0, 6, 9) for position in range(10)]
    selectable = [position not in (0, 3, 6, 9) for position in range(10)]
    assert word_candidates(starts, around, selectable) == [[1, 2], [5], [7], [8]]


def test_tokens_are_masked_exactly_as_often_as_asked():
    words = [[position] for position in range(1, 39)]
    for seed in range(50):
        new_ids, positions, mask_ids = masked(words, seed, "token", count=6)
        assert len(positions) == 6
        assert positions == sorted(positions) == mask_ids
        unmasked = [i for i in range(40) if i not in positions]
        assert [new_ids[i] for i in unmasked] == unmasked


def test_a_word_is_masked_whole_or_not_at_all():
    words = [[1], [2, 3, 4], [5, 6], [7, 8, 9, 10, 11, 12], [13]]
    for seed in range(200):
        _, positions, _ = masked(words, seed, count=5)
        chosen = [word for word in words if set(word) <= set(positions)]
        assert sorted(position for word in chosen for position in word) == positions
        # What is skipped does not fit into what is left.
        left = 5 - len(positions)
        assert 0 <= left < min(len(word) for word in words if word not in chosen)


def test_one_random_word_is_masked_if_none_fits():
    words = [[1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11, 12, 13]]
    seen = {tuple(masked(words, seed, count=2, limit=5)[1]) for seed in range(60)}
    assert seen == {(1, 2, 3), (4, 5, 6, 7)}
    seen = {tuple(masked(words, seed, count=1, limit=2)[1]) for seed in range(60)}
    assert seen == {(1, 2), (4, 5), (8, 9)}


def test_rows_without_candidates_have_no_masks():
    assert masked([], 0, length=3) == ([0, 1, 2], [], [])


def test_eighty_ten_ten():
    counts = Counter()
    words = [[position] for position in range(40)]
    for seed in range(2500):
        new_ids, positions, _ = masked(words, seed, "token", count=8)
        for position in positions:
            new = new_ids[position]
            counts["mask" if new == MASK else "same" if new == position else new] += 1
    expected = {"mask": 16_000, "same": 2000, **dict.fromkeys(DRAWN, 2000 / 3)}
    assert set(counts) == set(expected)
    # 0.999 quantile of chi-square with four degrees of freedom.
    assert sum((counts[key] - n) ** 2 / n for key, n in expected.items()) < 18.5


def test_ngrams_are_runs_of_words_within_a_text():
    words = [[1], [2, 3], [4], [5], [6]] + [[position] for position in range(8, 30)]
    runs = Counter()
    for seed in range(600):
        _, positions, _ = masked(words, seed, "ngram", count=4)
        assert ({2, 3} <= set(positions)) == bool({2, 3} & set(positions))
        runs[len(positions)] += 1
    assert runs[4] > 560


def test_ngram_lengths_have_their_shares():
    """With a single n-gram of a long text, only the end of the row shortens."""
    words = [[position] for position in range(1, 400)]
    counts = Counter()
    for seed in range(3000):
        # One more than the longest: the first n-gram is never shortened by the count.
        _, positions, _ = masked(words, seed, "ngram", count=4, limit=4, length=401)
        start = Random(seed)
        order = list(range(len(words)))
        for last in range(len(order) - 1, 0, -1):
            other = int(start.random() * (last + 1))
            order[last], order[other] = order[other], order[last]
        first, length = order[0] + 1, 0
        while first + length in positions:
            length += 1
        counts[min(length, 4)] += 1
    shares = [counts[n] / 3000 for n in (1, 2, 3, 4)]
    # The next n-grams may touch the first one, seldom.
    assert shares == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.04)
