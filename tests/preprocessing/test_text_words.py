"""Words against a plain loop over characters and tokens, eagerly and in `tf.data`."""

import unicodedata

import pytest
import tensorflow as tf
from tiny_extractive_qa import tiny_tokenizer
from tiny_token_classifier import TEXTS, WORDS

from kerazoo.preprocessing.text_words import joined_words, words_given, words_of_texts
from kerazoo.preprocessing.trimmed_offsets import trimmed_offsets

TEXTS = [*TEXTS, "in\u00adside Ada\u0000s", "a—b ...ca", "Ada's the-cat", "éé e\u0301\u0301小e"]


def offsets(tokenizer, texts):
    _, starts, ends = tokenizer.tokenize_with_offsets(texts)
    return trimmed_offsets(tf.constant(texts), starts, ends)


def words_by_hand(text, spans):
    """Return (start, end, first token) of each word and the word of each token."""

    def is_lone(character):
        return unicodedata.category(character)[0] == "P" or "\u4e00" <= character <= "\u9fff"

    words, of_token, before = [], [], None
    for token, (start, end) in enumerate(spans):
        if end <= start:
            of_token.append(-1)
            continue
        goes_on = before is not None and (
            start < before
            or (
                not any(c.isspace() for c in text[before:start])
                and not is_lone(text[before - 1])
                and not is_lone(text[start])
            )
        )
        if goes_on:
            words[-1][1] = end
        else:
            words.append([start, end, token])
        of_token.append(len(words) - 1)
        before = end
    return words, of_token


def as_lists(words):
    columns = (words.starts, words.ends, words.first_token)
    rows = zip(*(column.to_list() for column in columns), strict=True)
    return [[list(word) for word in zip(*row, strict=True)] for row in rows]


@pytest.fixture(params=["wordpiece", "bytes"])
def tokenizer(request, tiny_bpe_tokenizer):
    return tiny_tokenizer() if request.param == "wordpiece" else tiny_bpe_tokenizer


def test_words_of_running_text_equal_a_loop(tokenizer):
    starts, ends = offsets(tokenizer, TEXTS)
    found = words_of_texts(tf.constant(TEXTS), starts, ends)
    lists = as_lists(found)
    for row, text in enumerate(TEXTS):
        spans = list(zip(starts[row].numpy().tolist(), ends[row].numpy().tolist(), strict=True))
        words, of_token = words_by_hand(text, spans)
        assert lists[row] == words
        assert found.word_of_token[row].numpy().tolist() == of_token


def test_words_a_person_would_see():
    texts = ["  Ada  came, 小明😀.", "in\u00adside Cafe\u0301s"]
    starts, ends = offsets(tiny_tokenizer(), texts)
    found = words_of_texts(tf.constant(texts), starts, ends)
    slices = [
        [text[start:end] for start, end, _ in row]
        for text, row in zip(texts, as_lists(found), strict=True)
    ]
    assert slices == [["Ada", "came", ",", "小", "明", "😀", "."], ["in\u00adside", "Cafe\u0301s"]]


@pytest.mark.parametrize("separator", [" ", "", "\u3000\u3000"])
def test_given_words_find_their_tokens(tokenizer, separator):
    words = tf.ragged.constant([*WORDS, [], ["  ", "Ada", " came"]])
    texts = joined_words(words, separator)
    starts, ends = offsets(tokenizer, texts)
    found = words_given(words, separator, starts, ends)
    for row, given in enumerate(words.to_list()):
        text, position = texts[row].numpy().decode(), 0
        tokens = list(zip(starts[row].numpy().tolist(), ends[row].numpy().tolist(), strict=True))
        of_token = [-1] * len(tokens)
        for number, word in enumerate(given):
            start, end = position, position + len(word.decode())
            position = end + len(separator)
            assert found.starts[row][number] == start
            assert text[start : found.ends[row][number]] == word.decode()
            mine = [i for i, (s, e) in enumerate(tokens) if s < e and start <= s < end]
            assert found.first_token[row][number] == (mine[0] if mine else -1)
            for token in mine:
                of_token[token] = number
        assert found.word_of_token[row].numpy().tolist() == of_token


def test_the_same_in_a_dataset():
    tokenizer = tiny_tokenizer()

    def words(texts):
        starts, ends = trimmed_offsets(texts, *tokenizer.tokenize_with_offsets(texts)[1:])
        found = words_of_texts(texts, starts, ends)
        return found.starts, found.ends, found.first_token, found.word_of_token

    data = tf.data.Dataset.from_tensor_slices(TEXTS).batch(len(TEXTS)).map(words)
    starts, ends = offsets(tokenizer, TEXTS)
    expected = words_of_texts(tf.constant(TEXTS), starts, ends)
    found = next(iter(data))
    for value, key in zip(found, ("starts", "ends", "first_token", "word_of_token"), strict=True):
        assert value.to_list() == getattr(expected, key).to_list()
    assert words(tf.constant([], tf.string))[0].to_list() == []


def test_words_join_as_in_python_empty_ones_too():
    rows = [["", "Ada", "came"], ["", "", "小"], [], ["a", "", "b", ""], [""]]
    words = tf.ragged.constant(rows, dtype=tf.string)
    for separator in (" ", "", " - "):
        found = joined_words(words, separator).numpy().tolist()
        assert [text.decode() for text in found] == [separator.join(row) for row in rows]
