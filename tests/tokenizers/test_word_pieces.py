import pytest
import tensorflow as tf

from kerazoo.tokenizers.word_pieces import WordPieces

VOCABULARY = ["[UNK]", "play", "##ed", "##s", ".", "我", "爱", "我爱", "##爱", "a", "##a", ""]


def pieces(texts, vocabulary=VOCABULARY, split_on_cjk=True, limit=100):
    matcher = WordPieces(vocabulary, "[UNK]", limit, split_on_cjk)
    ids, starts, ends = matcher.tokenize_with_offsets(tf.constant(texts, tf.string))
    tokens = [[vocabulary[i] for i in row] for row in ids.to_list()]
    return tokens, starts.to_list(), ends.to_list()


def test_longest_match_with_byte_offsets():
    tokens, starts, ends = pieces(["played plays.", "", "playx 我爱"])
    assert tokens == [["play", "##ed", "play", "##s", "."], [], ["[UNK]", "我", "爱"]]
    assert starts == [[0, 4, 7, 11, 12], [], [0, 6, 9]]
    assert ends == [[4, 6, 11, 12, 13], [], [5, 9, 12]]


def test_han_runs_are_words_without_splitting():
    tokens, starts, ends = pieces(["我爱 a.我爱爱", "\u3000a\u2028"], split_on_cjk=False)
    assert tokens == [["我爱", "a", ".", "我爱", "##爱"], ["a"]]
    assert starts == [[0, 7, 8, 9, 15], [3]]
    assert ends == [[6, 8, 9, 15, 18], [4]]


@pytest.mark.parametrize("split_on_cjk", [True, False])
@pytest.mark.parametrize(
    "entry", ["", "\u2028", "##\u2028", "a\u2028a", "\x00", "a\x00", "\n", " "]
)
def test_entries_that_no_word_can_hold_match_nothing(entry, split_on_cjk):
    vocabulary = ["[UNK]", "a", entry, "##a"]
    texts = ["a\u2028a", "\n", "aa a\na", "\u2028"]
    tokens, _, _ = pieces(texts, vocabulary, split_on_cjk)
    assert tokens == [["a", "a"], [], ["a", "##a", "a", "a"], []]


def test_vocabulary_in_which_nothing_can_be_matched():
    assert pieces(["a [UNK]"], ["[UNK]", "[PAD]"])[0] == [["[UNK]"] * 4]


@pytest.mark.parametrize("split_on_cjk", [True, False])
def test_limit_in_characters(split_on_cjk):
    texts = ["a" * 7, "a" * 8 + " a"]
    tokens, _, ends = pieces(texts, split_on_cjk=split_on_cjk, limit=7)
    assert tokens == [["a"] + ["##a"] * 6, ["[UNK]", "a"]]
    assert ends == [[1, 2, 3, 4, 5, 6, 7], [8, 10]]
