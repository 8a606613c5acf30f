import random

import numpy as np
import tensorflow as tf
from tokenizers import Tokenizer, models

from kerazoo.tokenizers.bpe_merges import BPEMerges

ALPHABET = "abcd"


def random_merges(generator, count, in_order):
    """Merges of random entries; a token may be made in several ways."""
    entries, merges = list(ALPHABET), {}
    while len(merges) < count:
        left, right = generator.choice(entries), generator.choice(entries)
        if len(left + right) <= 7:
            merges[left, right] = None
            entries.append(left + right)
    merges = list(merges)
    if not in_order:
        generator.shuffle(merges)
    return {entry: number for number, entry in enumerate(dict.fromkeys(entries))}, merges


def make(ids, merges):
    first = np.array([ids[entry[0]] for entry in ids])
    last = np.array([ids[entry[-1]] for entry in ids])
    return BPEMerges(merges, ids, first, last)


def merged(bpe, ids, words):
    symbols = tf.constant([ids[character] for word in words for character in word], tf.int32)
    is_start = tf.constant([n == 0 for word in words for n in range(len(word))], tf.bool)
    tokens = bpe.merge(symbols, is_start).numpy()
    borders = np.cumsum([0, *map(len, words)])
    rows = [tokens[a:b] for a, b in zip(borders[:-1], borders[1:], strict=True)]
    return [row[row >= 0].tolist() for row in rows]


def random_words(generator, count=60):
    words = ["".join(generator.choices(ALPHABET, k=generator.randint(1, 19))) for _ in range(count)]
    return [*words, "a" * 13, "ab" * 9, "abc" * 5 + "a", "d"]


def check(in_order, cases):
    merges_all = set()
    for seed in range(cases):
        generator = random.Random(seed)
        ids, merges = random_merges(generator, generator.randint(1, 40), in_order)
        bpe = make(ids, merges)
        merges_all.add(bpe._merges_all)
        words = random_words(generator)
        reference = Tokenizer(models.BPE(vocab=ids, merges=merges))
        assert merged(bpe, ids, words) == [reference.encode(word).ids for word in words], seed
    return merges_all


def test_merges_in_order_equal_the_reference():
    assert check(in_order=True, cases=25) == {True, False}


def test_merges_out_of_order_equal_the_reference():
    """A merge may come before those that make its parts, so that one step can raise another's."""
    assert False in check(in_order=False, cases=25)


def test_overlapping_pairs_are_merged_from_the_left():
    ids = {"a": 0, "b": 1, "aa": 2, "aaaa": 3}
    bpe = make(ids, [("a", "a"), ("aa", "aa")])
    words = ["a", "aa", "aaa", "aaaa", "aaaaa", "baaab", "aabaaa", "a" * 11]
    assert merged(bpe, ids, words) == [
        [0],
        [2],
        [2, 0],
        [3],
        [3, 0],
        [1, 2, 0, 1],
        [2, 1, 2, 0],
        [3, 3, 2, 0],
    ]


def test_words_do_not_merge_with_their_neighbours():
    ids = {"a": 0, "b": 1, "ab": 2}
    assert merged(make(ids, [("a", "b")]), ids, ["a", "b", "ab", "ba"]) == [[0], [1], [2], [1, 0]]


def test_segments_end_where_no_merge_reaches_across():
    ids = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}
    bpe = make(ids, [("a", "b"), ("ab", "c")])
    symbols = tf.constant([0, 1, 2, 0, 1, 1, 2, 2, 0, 1], tf.int32)
    is_start = tf.constant([True] + [False] * 8 + [True])
    starts = bpe.segment_starts(symbols, is_start).numpy().astype(int).tolist()
    assert starts == [1, 0, 0, 1, 0, 1, 0, 1, 1, 1]


def test_nothing_to_merge():
    ids = {"a": 0, "b": 1}
    bpe = make(ids, [])
    assert merged(bpe, ids, ["abba", "b"]) == [[0, 1, 1, 0], [1]]
    assert merged(bpe, ids, []) == []


def test_results():
    bpe = make({"a": 0, "b": 1, "ba": 2, "bab": 3}, [("b", "a"), ("ba", "b")])
    assert bpe.results.tolist() == [2, 3]


def test_in_a_graph():
    ids, merges = random_merges(random.Random(3), 30, in_order=True)
    bpe = make(ids, merges)
    function = tf.function(
        bpe.merge, [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool)]
    )
    symbols = tf.constant(np.random.default_rng(5).integers(0, 4, 97), tf.int32)
    is_start = tf.constant([number % 13 == 0 for number in range(97)])
    np.testing.assert_array_equal(function(symbols, is_start), bpe.merge(symbols, is_start))
