import pytest
import tensorflow as tf

from kerazoo.tokenizers.plain_texts import are_plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", True),
        (b"Some words, (and) ~signs~\t\r\n", True),
        (b"  two  spaces ", True),
        (b"sevens7 sevens7", True),
        (b"eight888", False),
        (b"a eight888", False),
        (b"eight888 a", False),
        ("é".encode(), False),
        ("a 我 b".encode(), False),
        (b"a\x00b", False),
        (b"a\x7fb", False),
        (b"a\x0bb", False),
        (b"a\xffb", False),
        (b"\xed\xa0\x80", False),
    ],
)
def test_printable_ascii_in_short_words_is_plain(text, expected):
    texts = tf.constant([b"fine", text, b"too"])
    assert are_plain(texts, 7).numpy().tolist() == [True, expected, True]


@pytest.mark.parametrize("limit", [1, 100, 400])
def test_a_word_may_have_as_many_characters_as_the_limit(limit):
    texts = [f"a {'b' * (limit + extra)} c" for extra in (0, 1)]
    assert are_plain(tf.constant(texts), limit).numpy().tolist() == [True, False]


def test_above_what_patterns_can_count_length_is_left_open():
    assert are_plain(tf.constant(["b" * 5000, "é"]), 401).numpy().tolist() == [True, False]
