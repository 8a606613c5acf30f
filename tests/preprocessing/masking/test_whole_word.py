"""Whole-word masking against a loop over words in the same order."""

import numpy as np
import pytest
import tensorflow as tf
from masking_batches import random_batch, units_of, words_in_order

from kerazoo.preprocessing.masking.whole_word import select_whole_words

WIDTH = 41


def oracle(words, count, limit):
    chosen = []
    for word in words:
        if len(chosen) + len(word) <= count:
            chosen += word
    if not chosen and words:
        chosen = next((word for word in words if len(word) <= limit), words[0])[:limit]
    return sorted(chosen)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(("limit", "longest"), [(9, 4), (2, 6), (1, 3)])
def test_equals_a_loop_over_words(compiled, limit, longest):
    def run(features, word_starts, counts, seed):
        chosen = select_whole_words(units_of(features, word_starts), counts, limit, seed)
        return chosen.mask(word_starts)

    run = tf.function(run) if compiled else run
    for number in range(3 if compiled else 6):
        batch = random_batch(40, WIDTH, seed=number, longest_word=longest)
        counts = np.random.default_rng(number).integers(1, limit + 1, 40)
        seed = tf.constant([number, 5])
        chosen = run(batch.features, batch.word_starts, tf.constant(counts, tf.int32), seed).numpy()
        for row, words in enumerate(words_in_order(batch, seed)):
            expected = oracle(words, counts[row], limit)
            assert np.flatnonzero(chosen[row]).tolist() == expected, (number, row)
