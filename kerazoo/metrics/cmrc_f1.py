"""Exact match and F1 of Chinese answers, as CMRC 2018 measures them."""

import re
from collections.abc import Sequence

from kerazoo.metrics.span_f1 import best_over_answers

_HAN = re.compile("[\u4e00-\u9fa5]")
_LEFT_OUT = frozenset("-:_*^/\\~`+=，。：？！“”；’《》…·、「」（）－～『』")
_UNIT = re.compile(r"[^\W_]+(?:[.,]\d+)*|[^\w\s]")


def mixed_units(text: str) -> list[str]:
    """Return the units of a text: each Han character, each word or number of other scripts.

    CMRC's evaluation cuts words with NLTK; a rule stands in its place here, which differs at
    English contractions and abbreviations ("don't", "U.S.").
    """
    units: list[str] = []
    other = ""
    for character in text.lower().strip():
        if character in _LEFT_OUT:
            continue
        if _HAN.match(character):
            units += [*_UNIT.findall(other), character]
            other = ""
        else:
            other += character
    return units + _UNIT.findall(other)


def cmrc_exact_match(answer: str, right: str) -> float:
    """Return 1 if two answers are equal in lower case and without punctuation, else 0."""
    return float(_without_punctuation(answer) == _without_punctuation(right))


def cmrc_f1(answer: str, right: str) -> float:
    """Return the F1 of the longest run of units that two answers share."""
    units, right_units = mixed_units(answer), mixed_units(right)
    shared = _longest_shared_run(units, right_units)
    return 2 * shared / (len(units) + len(right_units)) if shared else 0.0


def cmrc_scores(answers: Sequence[str], right_answers: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return `cmrc_exact_match` and `cmrc_f1`, shares from 0 to 1.

    Args:
        answers: the answer given to each question; at least one.
        right_answers: the right answers of each.
    """
    rows = list(zip(answers, right_answers, strict=True))
    return {
        name: sum(best_over_answers(measure, *row) for row in rows) / len(rows)
        for name, measure in (("cmrc_exact_match", cmrc_exact_match), ("cmrc_f1", cmrc_f1))
    }


def has_han(texts: Sequence[str]) -> bool:
    """Return whether one of the texts holds a Han character."""
    return any(_HAN.search(text) for text in texts)


def _without_punctuation(text: str) -> str:
    return "".join(c for c in text.lower().strip() if c not in _LEFT_OUT)


def _longest_shared_run(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest run that stands in both sequences."""
    longest = 0
    before = [0] * (len(right) + 1)
    for unit in left:
        row = [0] * (len(right) + 1)
        for number, other in enumerate(right, start=1):
            if unit == other:
                row[number] = before[number - 1] + 1
        longest = max(longest, *row)
        before = row
    return longest
