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
    ("coverage", "kept"), [(1.0, "zbadc"), (0.97, "zbad"), (0.95, "zba"), (0.001, "z")]
)
def test_the_rarest_characters_are_left_out(coverage, kept):
    counts = Counter({"d": 2, "z": 60, "c": 2, "a": 16, "b": 20})
    counts["d"] += 1  # 101 in all
    assert most_frequent(counts, coverage) == list(kept)


def test_equally_frequent_characters_stand_in_the_order_of_their_code_points():
    assert most_frequent(Counter("dbcab"), 1.0) == ["b", "a", "c", "d"]


@pytest.mark.parametrize("character", "好𠀀。!$^`\u2014«")
def test_han_characters_and_punctuation_are_always_words(character):
    assert is_always_a_word(character)
    assert is_han(character) == (character in "好𠀀")


@pytest.mark.parametrize("character", "aé7Ж½\u0e01か€")
def test_other_characters_can_stand_in_a_word(character):
    assert not is_always_a_word(character)
