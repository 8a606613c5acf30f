import pytest
import tensorflow as tf

from kerazoo.tokenizers.text_marks import TextMarks

BREAK, FIRST, SECOND = "\U0010fff0", "\U0010fff1", "\U0010fff2"


def decode(texts: tf.Tensor) -> list[str]:
    return [text.decode("utf-8") for text in texts.numpy()]


def test_without_anything_to_mark_texts_stay_as_they_are():
    marks = TextMarks()
    assert not marks
    text = f"a [MASK] {BREAK}🎉"
    assert decode(marks.mark(tf.constant([text]))) == [text]


def test_special_tokens_become_words():
    marks = TextMarks(["[MASK]", "[SEP]"])
    assert marks.placeholders == [FIRST, SECOND]
    marked = marks.mark(tf.constant(["x[MASK].[SEP][MASK]", "[mask] [ SEP ]"]))
    assert decode(marked) == [f"x{FIRST}.{SECOND}{FIRST}", "[mask] [ SEP ]"]
    assert decode(marks.expand(marked))[0] == f"x {FIRST} . {SECOND}  {FIRST} "


def test_the_longest_special_token_wins():
    marks = TextMarks(["<a>", "<a><b>"])
    assert decode(marks.mark(tf.constant(["<a><b> <a>"]))) == [f"{SECOND} {FIRST}"]


def test_characters_with_a_meaning_in_patterns_are_literal():
    marks = TextMarks(["$", "a.c", r"\d"])
    marked = decode(marks.mark(tf.constant(["abc a.c 1 \\d $"])))
    assert marked == [f"abc {SECOND} 1 \U0010fff3 {FIRST}"]


def test_callers_cannot_imitate_reserved_characters():
    marks = TextMarks(["[MASK]"], symbols="🎉")
    assert decode(marks.mark(tf.constant([f"a{FIRST}b{BREAK}c"]))) == ["a\ufffdb\ufffdc"]


def test_symbols_are_set_apart():
    marks = TextMarks(symbols="[🎉☆]+")
    marked = marks.mark(tf.constant(["great🎉☆a"]))
    assert decode(marked) == [f"great{BREAK}🎉☆{BREAK}a"]
    assert decode(marks.expand(marked)) == ["great 🎉☆ a"]


def test_caller_lengths():
    marks = TextMarks(["[MASK]", "<s>"], symbols="🎉")
    code_points = tf.constant([ord(c) for c in ("a", BREAK, FIRST, SECOND, "中", "\U0010fffd")])
    assert marks.caller_lengths(code_points).numpy().tolist() == [1, 0, 6, 3, 1, 1]


def test_too_many_special_tokens():
    TextMarks([f"<{i}>" for i in range(13)])
    with pytest.raises(ValueError, match="At most 13"):
        TextMarks([f"<{i}>" for i in range(14)])
