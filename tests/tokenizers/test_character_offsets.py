import pytest
import tensorflow as tf

from kerazoo.tokenizers.bert_normalizer import BertNormalizer
from kerazoo.tokenizers.character_offsets import to_character_offsets


def offsets(texts, spans, caller_lengths=None, strip_accents=True):
    normalizer = BertNormalizer(True, strip_accents, map_quotes=True, keep_reserved=True)
    texts = tf.constant(texts, tf.string)
    starts, ends = (
        tf.ragged.constant([[s[i] for s in row] for row in spans], tf.int64, ragged_rank=1)
        for i in (0, 1)
    )
    starts, ends = to_character_offsets(
        texts, normalizer(texts), starts, ends, normalizer, caller_lengths
    )
    assert starts.dtype == ends.dtype == tf.int32
    return [
        list(zip(s, e, strict=True)) for s, e in zip(starts.to_list(), ends.to_list(), strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "byte_spans", "character_spans"),
    [
        ("ab cd", [(0, 2), (3, 5)], [(0, 2), (3, 5)]),
        ("é e\u0301 x", [(0, 1), (2, 3), (4, 5)], [(0, 1), (2, 4), (5, 6)]),
        ("a\x00b c", [(0, 2), (3, 4)], [(0, 3), (4, 5)]),
        ("a\u200db", [(0, 1), (1, 2)], [(0, 2), (2, 3)]),
        ("a\u00adb", [(0, 1), (1, 2)], [(0, 1), (2, 3)]),
        ("a\u0301\u0302.", [(0, 1), (1, 2)], [(0, 3), (3, 4)]),
        ("\u0301a", [(0, 1)], [(1, 2)]),
        ("中文🎉", [(0, 3), (3, 6), (6, 10)], [(0, 1), (1, 2), (2, 3)]),
        ("각", [(0, 3), (3, 6), (6, 9)], [(0, 1), (0, 1), (0, 1)]),
        ("x…y", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], [(0, 1), *[(1, 2)] * 3, (2, 3)]),
        ("\ufeffab", [(0, 2)], [(1, 3)]),
        ("é", [], []),
    ],
)
def test_characters_of_the_callers_text(text, byte_spans, character_spans):
    assert offsets([text], [byte_spans]) == [character_spans]
    assert offsets(["", "zz", text, "é"], [[], [(0, 2)], byte_spans, [(0, 1)]]) == [
        [],
        [(0, 2)],
        character_spans,
        [(0, 1)],
    ]


def test_marks_that_are_kept_are_tokens_of_their_own():
    spans = offsets(["e\u0301x"], [[(0, 1), (1, 3), (3, 4)]], strip_accents=False)
    assert spans == [[(0, 1), (1, 2), (2, 3)]]


def test_a_mark_at_the_start_of_the_next_text_is_not_included():
    assert offsets(["é", "\u0301a"], [[(0, 1)], [(0, 1)]]) == [[(0, 1)], [(1, 2)]]


def test_characters_that_stand_for_more_or_for_none():
    def lengths(code_points):
        is_mask, is_break = code_points == 0x10FFF1, code_points == 0x10FFF0
        return tf.cast(tf.where(is_mask, 6, tf.where(is_break, 0, 1)), tf.int64)

    text = "é\U0010fff1\U0010fff0b"  # an e, a six-character token, a break, a b
    spans = offsets(["b", text], [[(0, 1)], [(0, 1), (1, 5), (9, 10)]], lengths)
    assert spans == [[(0, 1)], [(0, 1), (1, 7), (7, 8)]]


def test_no_texts():
    assert offsets([], []) == []
