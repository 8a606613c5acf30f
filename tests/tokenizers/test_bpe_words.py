import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tokenizers import bpe_words
from kerazoo.tokenizers.bpe_merges import BPEMerges
from kerazoo.tokenizers.bpe_words import BPEWords, Symbols

# "abc" and "dd" are entries that no merge makes; "bc" is made, but only where no "a" comes first.
IDS = {entry: n for n, entry in enumerate(["d", "c", "b", "a", "ab", "bc", "abc", "cab", "dd"])}
MERGES = [("a", "b"), ("b", "c"), ("c", "ab")]


def to_symbols(words):
    data = tf.cast(tf.io.decode_raw(tf.strings.reduce_join(words), tf.uint8), tf.int32)
    splits = tf.concat([[0], tf.cumsum(tf.strings.length(words))], axis=0)
    return Symbols(tf.gather([3, 2, 1, 0], data - ord("a")), tf.ones_like(data), splits)


def make(cuts, fixed=None):
    first = np.array([IDS[entry[0]] for entry in IDS])
    last = np.array([IDS[entry[-1]] for entry in IDS])
    merges = BPEMerges(MERGES, IDS, first, last)
    words = {entry.encode(): number for entry, number in IDS.items()}
    return BPEWords(words, to_symbols, merges, fixed or {}, cuts=cuts)


def rows(tokens):
    ids, starts, ends, counts = (value.numpy().tolist() for value in tokens)
    spans = iter(zip(ids, starts, ends, strict=True))
    return [[next(spans) for _ in range(count)] for count in counts]


WORDS = ["ab", "", "abc", "dd", "bc", "ab", "cabd", "abc", "d", "bcab"]
EXPECTED = [
    [(4, 0, 2)],
    [],
    [(4, 0, 2), (1, 2, 3)],
    [(0, 0, 1), (0, 1, 2)],
    [(5, 0, 2)],
    [(4, 0, 2)],
    [(7, 0, 3), (0, 3, 4)],
    [(4, 0, 2), (1, 2, 3)],
    [(0, 0, 1)],
    [(5, 0, 2), (4, 2, 4)],
]


@pytest.mark.parametrize("cuts", [True, False])
def test_tokens_and_their_bytes(cuts):
    assert rows(make(cuts).encode(tf.constant(WORDS))) == EXPECTED


@pytest.mark.parametrize("cuts", [True, False])
def test_nothing(cuts):
    for words in ([], [""], ["", ""]):
        assert rows(make(cuts).encode(tf.constant(words, tf.string))) == [[] for _ in words]


def test_only_words_that_merging_leaves_whole_are_found():
    entries = set(make(True)._entries.numpy().tolist())
    assert entries == {b"a", b"b", b"c", b"d", b"ab", b"bc", b"cab"}


def test_fixed_words_are_not_merged():
    words = make(True, fixed={b"\xfe": 6, b"dd": 8})
    assert rows(words.encode(tf.constant([b"\xfe", b"dd", b"ab"]))) == [
        [(6, 0, 1)],
        [(8, 0, 2)],
        [(4, 0, 2)],
    ]


@pytest.mark.parametrize("fingerprints", [1, 3])
def test_equal_fingerprints_give_no_wrong_id(monkeypatch, fingerprints):
    monkeypatch.setattr(bpe_words, "_FINGERPRINTS", fingerprints)
    words = make(True)
    assert len(words._entries) <= fingerprints
    assert rows(words.encode(tf.constant(WORDS))) == EXPECTED


def test_in_rows():
    tokens = make(True).encode(tf.constant(WORDS))
    words = tf.RaggedTensor.from_row_lengths(tf.constant(WORDS), [3, 0, 5, 2])
    ids = [[token[0] for token in row] for row in EXPECTED]
    expected = [sum(ids[:3], []), [], sum(ids[3:8], []), sum(ids[8:], [])]
    assert tokens.in_rows(words).to_list() == expected
