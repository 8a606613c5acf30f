from collections import Counter

import pytest

from kerazoo.tokenizers.alphabet import (
    count_characters,
    is_always_a_word,
    is_han,
    most_frequent,
)


def test_characters_are_counted_after_normalisation():
    counts = count_characters(["Aa b", "B\tb\u3000"], str.lower)
    assert counts == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("coverage", "room", "kept"),
    [(1.0, 9, "abcdz"), (0.97, 9, "abdz"), (0.95, 9, "abz"), (1.0, 2, "bz"), (0.001, 9, "z")],
)
def test_the_rarest_characters_are_left_out(coverage, room, kept):
    counts = Counter({"d": 2, "z": 60, "c": 2, "a": 16, "b": 20})
    counts["d"] += 1  # 101 in all
    assert most_frequent(counts, coverage, room) == list(kept)


@pytest.mark.parametrize("character", "好𠀀。!$^`\u2014«")
def test_han_characters_and_punctuation_are_always_words(character):
    assert is_always_a_word(character)
    assert is_han(character) == (character in "好𠀀")


@pytest.mark.parametrize("character", "aé7Ж½\u0e01か€")
def test_other_characters_can_stand_in_a_word(character):
    assert not is_always_a_word(character)
