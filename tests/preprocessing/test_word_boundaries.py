import numpy as np
import tensorflow as tf
from masking_batches import CLS, PAD, SEP, UNKNOWN, candidates_of, random_batch, units_of

from kerazoo.preprocessing.word_boundaries import continues_a_word, token_units


def test_words_end_with_their_text():
    # A word of two pieces, one with an unknown piece, [SEP], the rest of a cut word, a word, [SEP].
    ids = tf.constant([[CLS, 8, 9, 10, UNKNOWN, SEP, 11, 12, SEP, PAD, PAD]])
    starts = tf.constant([[False, True, False, True, False, False, False, True] + [False] * 3])
    features = {"token_ids": ids, "padding_mask": tf.cast(ids != PAD, tf.int32)}
    units = units_of(features, starts)
    assert units.first.numpy().tolist() == [0, 1, 3, 5, 6, 7, 8]
    assert units.size.numpy().tolist() == [1, 2, 2, 1, 1, 1, 1]
    assert units.is_candidate.numpy().tolist() == [0, 1, 0, 0, 1, 1, 0]
    assert units.row_splits.numpy().tolist() == [0, 7]
    chosen = units.chosen(tf.constant([0, 3, 0, 0, 0, 4, 0]), limit=1)
    assert chosen.positions.numpy().tolist() == [1, 7]
    chosen = units.chosen(tf.constant([0, 3, 0, 0, 0, 4, 0]), limit=2)
    assert chosen.positions.numpy().tolist() == [1, 2, 7]
    assert chosen.numbers.numpy().tolist() == [3, 3, 4]


def test_words_of_random_rows():
    batch = random_batch(30, 23, seed=9)
    units = units_of(batch.features, batch.word_starts)
    splits, firsts, sizes = (x.numpy() for x in (units.row_splits, units.first, units.size))
    for row, words in enumerate(batch.words):
        found = [
            (firsts[unit] - 23 * row + np.arange(sizes[unit])).tolist()
            for unit in range(splits[row], splits[row + 1])
            if units.is_candidate[unit]
        ]
        assert found == words


def test_positions_are_numbered_by_their_units():
    batch = random_batch(4, 23, seed=2)
    units = units_of(batch.features, batch.word_starts)
    row = int(np.argmax([len(words) for words in batch.words]))
    words = batch.words[row][:3]
    positions = tf.constant([23 * row + position for word in words for position in word], tf.int64)
    sizes = [len(word) for word in words]
    expected = [sum(sizes[:number]) for number, size in enumerate(sizes) for _ in range(size)]
    assert units.first_of_unit(positions).numpy().tolist() == expected


def test_tokens_are_units_of_one():
    batch = random_batch(3, 9)
    candidates = candidates_of(batch.features)
    units = token_units(candidates)
    assert units.size.numpy().tolist() == [1] * 27
    assert units.is_candidate.numpy().tolist() == candidates.is_selectable.numpy().ravel().tolist()
    assert units.row_splits.numpy().tolist() == [0, 9, 18, 27]


def test_nothing_goes_on_over_a_special_token():
    starts = tf.constant([[False, True, False, False, False]])
    is_text = tf.constant([[False, True, True, False, True]])
    found = continues_a_word(starts, is_text).numpy().tolist()
    assert found == [[False, False, True, False, False]]
