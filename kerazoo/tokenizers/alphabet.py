"""The characters of texts: what every longer entry of a trained vocabulary is made of."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice

_TEXTS_AT_ONCE = 1024


def count_characters(texts: Iterable[str], normalize: Callable[[str], str]) -> Counter[str]:
    """Return how often each character stands in texts, white space left out.

    Args:
        texts: strings, read in portions.
        normalize: what is done to a text first.
    """
    counts: Counter[str] = Counter()
    remaining = iter(texts)
    while portion := list(islice(remaining, _TEXTS_AT_ONCE)):
        counts.update("".join(map(normalize, portion)))
    for character in [character for character in counts if character.isspace()]:
        del counts[character]
    return counts


def most_frequent(counts: Counter[str], coverage: float) -> list[str]:
    """Return the characters to keep, by frequency; equally frequent ones by their code points.

    Args:
        counts: from `count_characters`.
        coverage: float, the share of all characters of the texts that is to be kept.
    """
    wanted = coverage * counts.total()
    kept: list[str] = []
    covered = 0
    for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered >= wanted:
            break
        kept.append(character)
        covered += count
    return kept


def is_always_a_word(character: str) -> bool:
    """Return whether BERT's tokenizer makes a word of this character alone wherever it stands."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P") or is_han(character)


def is_han(character: str) -> bool:
    """Return whether BERT's tokenizer takes a character for a Chinese one."""
    code = ord(character)
    return any(first <= code <= last for first, last in _HAN)


# Hugging Face's ranges, whose trainers cut the texts; it leaves out U+2B820 to U+2B91F.
_HAN = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
