"""N-gram masking against a loop over starts in the same order, with the same lengths."""

from collections import Counter
from random import Random

import numpy as np
import pytest
import tensorflow as tf
from masking_batches import chi_square, random_batch, units_of, words_in_order

from kerazoo.preprocessing.masking.candidates import Candidates
from kerazoo.preprocessing.masking.ngram import NGRAM_WEIGHTS, _draw_lengths, select_ngrams
from kerazoo.preprocessing.masking.reference import create_masked_lm_predictions
from kerazoo.preprocessing.word_boundaries import token_units

WIDTH = 41


def oracle(words, order, lengths, count, limit):
    """Return the positions of each n-gram."""
    taken, ngrams = set(), []
    for start in order:
        run = []
        for word in words[start : start + lengths[start]]:
            touches = not run or word[0] == run[-1] + 1
            size = len(taken) + len(run) + len(word)
            if not touches or size > count or not taken.isdisjoint(word):
                break
            run += word
        if run:
            ngrams.append(run)
            taken.update(run)
    if not ngrams and order:
        fitting = [start for start in order if len(words[start]) <= limit]
        ngrams.append(words[(fitting or order)[0]][:limit])
    return ngrams


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(("limit", "longest"), [(9, 3), (2, 6)])
def test_equals_a_loop_over_starts(compiled, limit, longest):
    def run(features, word_starts, counts, seed):
        chosen = select_ngrams(units_of(features, word_starts), counts, limit, seed)
        return chosen.positions, chosen.numbers

    run = tf.function(run) if compiled else run
    for number in range(3 if compiled else 6):
        batch = random_batch(40, WIDTH, seed=number, longest_word=longest)
        counts = np.random.default_rng(number).integers(1, limit + 1, 40)
        seed = tf.constant([number, 5])
        seeds = tf.random.split(seed, 2)
        units = units_of(batch.features, batch.word_starts)
        lengths = _draw_lengths(units, NGRAM_WEIGHTS, seeds[1]).numpy()
        length_of_start = dict(zip(units.first.numpy().tolist(), lengths.tolist(), strict=True))
        found = run(batch.features, batch.word_starts, tf.constant(counts, tf.int32), seed)
        numbers = np.zeros(40 * WIDTH, "int32")
        numbers[found[0]] = found[1]
        numbers = numbers.reshape(40, WIDTH)
        ordered = words_in_order(batch, seeds[0])
        for row, words in enumerate(batch.words):
            order = [words.index(word) for word in ordered[row]]
            lengths = [length_of_start[row * WIDTH + word[0]] for word in words]
            expected = oracle(words, order, lengths, counts[row], limit)
            ngrams = [np.flatnonzero(numbers[row] == n).tolist() for n in set(numbers[row]) - {0}]
            assert sorted(ngrams) == sorted(expected), (number, row)


def test_lengths_before_shortening_have_their_shares():
    flags = tf.ones([20_000, 50], tf.bool)
    units = token_units(Candidates(flags, flags, flags))
    lengths = _draw_lengths(units, NGRAM_WEIGHTS, tf.constant([3, 4])).numpy()
    counts = np.bincount(lengths, minlength=5)[1:]
    expected = [weight * lengths.size for weight in NGRAM_WEIGHTS]
    assert chi_square(counts, expected) < 16.3  # 0.999 quantile, 3 degrees of freedom


def test_lengths_after_shortening_are_those_of_the_reference():
    """Two samples of the numbers of tokens that touch, from rows of 24 tokens with 6 to choose."""
    rows, width, count = 8000, 25, 6
    selectable = np.ones((rows, width), bool)
    selectable[:, 0] = False
    flags = tf.constant(selectable)
    units = token_units(Candidates(tf.ones_like(flags), flags, flags))
    chosen = select_ngrams(units, tf.fill([rows], count), count, tf.constant([7, 7]))
    chosen = chosen.mask(flags).numpy()
    assert (chosen.sum(axis=1) == count).all()
    found = Counter(length for row in chosen for length in _runs(row))
    reference, random = Counter(), Random(1)
    words = [[position] for position in range(1, width)]
    for _ in range(rows):
        options = {"masking": "ngram", "count": count, "limit": count}
        _, positions, _ = create_masked_lm_predictions(
            [9] * width, words, random, mask_token_id=4, drawn_ids=[5], **options
        )
        reference.update(_runs(np.isin(np.arange(width), positions)))
    keys = sorted(found | reference)
    assert keys == [1, 2, 3, 4, 5, 6]
    both = np.array([[sample[key] for key in keys] for sample in (found, reference)], float)
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
    assert chi_square(both, expected) < 20.5  # 0.999 quantile, 5 degrees of freedom


def _runs(row):
    """The lengths of the runs of chosen positions."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
    return (edges[1::2] - edges[::2]).tolist()
