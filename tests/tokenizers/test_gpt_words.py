import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_strings import NASTY_STRINGS
from tokenizers import pre_tokenizers

from kerazoo.tokenizers.byte_characters import entry_to_bytes
from kerazoo.tokenizers.gpt_words import GPTWords

REFERENCE = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def expected(text):
    return [entry_to_bytes(entry) for entry, _ in REFERENCE.pre_tokenize_str(text)]


def words(texts, **options):
    rows = GPTWords(**options)(tf.constant(texts, tf.string)).to_list()
    return [[word for word in row if word] for row in rows]


def test_nasty_strings():
    assert words(NASTY_STRINGS) == [expected(text) for text in NASTY_STRINGS]


def test_examples():
    texts = ["don't  stop\n\nnow", " a", "a ", "  's", "\n's", "it''s 'Sx", "'re're'", "x\u3000 y"]
    assert words(texts) == [
        [b"don", b"'t", b" ", b" stop", b"\n", b"\n", b"now"],
        [b" a"],
        [b"a", b" "],
        [b" ", b" '", b"s"],
        [b"\n", b"'s"],
        [b"it", b"''", b"s", b" '", b"Sx"],
        [b"'re", b"'re", b"'"],
        [b"x", "\u3000".encode(), b" y"],
    ]


CHARACTER = st.sampled_from("aé中1²٣.,'’😀_ \t\n\r\u0085\u00a0\u3000\u200bstrevmld")
TEXT = st.lists(st.one_of(CHARACTER, st.characters(exclude_categories=["Cs", "Cn"]))).map("".join)


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=9))
def test_random_texts(texts):
    assert words(texts) == [expected(text) for text in texts]


@pytest.mark.slow
def test_every_character_has_the_references_kind():
    """A letter, a number and a full stop join their like; white space joins a space before it."""
    codes = [
        code
        for code in range(0x80, 0x110000)
        if not 0xD800 <= code < 0xE000
        and (code < 0x3400 or 0xA000 <= code < 0xAC00 or code % 11 == 0)
    ]
    texts = [f"a{chr(code)}1{chr(code)}.{chr(code)} {chr(code)}" for code in codes]
    # Unicode goes on: what this Python does not know yet may be a letter to a newer reference.
    different = {
        chr(code)
        for code, text, row in zip(codes, texts, words(texts), strict=True)
        if row != expected(text)
    }
    assert {c for c in different if unicodedata.category(c) != "Cn"} == set()
    assert len(different) < 3000


def test_letters_and_numbers_of_unicode_16():
    texts = ["a\u1c89b", "a\U000105c0\U000105c1b", "1\U00010d402", "a\U0002ebf0b"]
    assert [len(row) for row in words(texts)] == [1, 1, 1, 1]


def test_special_tokens_are_words_of_their_own():
    cutter = GPTWords(["<|end|>", "<|end|>>", "$"])
    texts = ["a  <|end|>  b", "<|end|><|end|>", "x<|end|>>y", "$5 $", "<|end", "it<|end|>'s"]
    first, second, third = cutter.special_words
    rows = cutter(tf.constant(texts)).to_list()
    assert [[word for word in row if word] for row in rows] == [
        [b"a", b"  ", first, b" ", b" b"],
        [first, first],
        [b"x", second, b"y"],
        [third, b"5", b" ", third],
        [b"<|", b"end"],
        [b"it", first, b"'s"],
    ]
    assert len({first, second, third}) == 3


def test_every_byte_is_in_one_word():
    rows = GPTWords()(tf.constant(NASTY_STRINGS))
    assert tf.strings.reduce_join(rows, axis=-1).numpy().tolist() == [
        text.encode() for text in NASTY_STRINGS
    ]
    assert GPTWords()(tf.zeros([0], tf.string)).shape[0] == 0
