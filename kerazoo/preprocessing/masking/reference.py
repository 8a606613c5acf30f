"""Masking of one row, step by step, as Google's `create_masked_lm_predictions` does it.

This is the oracle of the vectorised masking, and makes the masks that are drawn once.
"""

from collections.abc import Sequence
from random import Random

from kerazoo.preprocessing.masking.ngram import NGRAM_WEIGHTS

Words = list[list[int]]
"""Positions of each candidate in order: those of one word, or of one token."""


def create_masked_lm_predictions(
    token_ids: Sequence[int],
    words: Words,
    random: Random,
    *,
    masking: str,
    count: int,
    limit: int,
    mask_token_id: int,
    drawn_ids: Sequence[int],
) -> tuple[list[int], list[int], list[int]]:
    """Mask a row.

    Candidates are visited in random order, and one that does not fit into what is left of `count`
    is skipped; if none fits, one random candidate of at most `limit` tokens is masked, or else the
    first `limit` tokens of any. Each chosen token becomes the mask token with probability 0.8; else
    it stays, with probability 0.5, or becomes a random one.

    Args:
        token_ids: the row's ids, special tokens included.
        words: the candidates: `word_candidates(…)` for "whole_word" and "ngram", lists of one
            position each for "token".
        random: where all that is drawn comes from.
        masking: "token", "whole_word" or "ngram": runs of 1 to 4 candidates that touch.
        count: int, tokens to mask.
        limit: int, the most tokens to mask, even if no candidate fits into `count`.
        mask_token_id: int.
        drawn_ids: the ids from which random tokens are drawn.

    Returns:
        The row's new ids, the positions of the masks, ascending, and the ids that stood there.
    """
    order = list(range(len(words)))
    _shuffle(order, random)
    chosen: set[int] = set()
    for start in order:
        if len(chosen) >= count:
            break
        if chosen.isdisjoint(words[start]):
            chosen.update(_fitting(words, start, chosen, count, masking, random))
    if not chosen and words and count:
        fitting = [word for word in words if len(word) <= limit] or words
        chosen.update(fitting[int(random.random() * len(fitting))][:limit])
    new_ids = list(token_ids)
    for position in sorted(chosen):
        if random.random() < 0.8:
            new_ids[position] = mask_token_id
        elif random.random() >= 0.5:
            new_ids[position] = drawn_ids[int(random.random() * len(drawn_ids))]
    positions = sorted(chosen)
    return new_ids, positions, [token_ids[position] for position in positions]


def word_candidates(
    word_starts: Sequence[bool], is_around: Sequence[bool], is_selectable: Sequence[bool]
) -> Words:
    """Return the positions of each word; a word with a token that is never masked is left out.

    Args:
        word_starts: True on the first token of each word.
        is_around: True on tokens that stand around texts, as [CLS] and [SEP]. What follows one of
            them is a word, even if it is the rest of one that was cut.
        is_selectable: False on tokens that are never masked.
    """
    words: Words = []
    goes_on = False
    for position, starts in enumerate(word_starts):
        if is_around[position]:
            goes_on = False
        elif starts or not goes_on:
            words.append([position])
            goes_on = True
        else:
            words[-1].append(position)
    return [word for word in words if all(is_selectable[position] for position in word)]


def _fitting(
    words: Words, start: int, chosen: set[int], count: int, masking: str, random: Random
) -> list[int]:
    """Return the positions of a candidate, or of a run of them, as far as they fit."""
    length = _ngram_length(random) if masking == "ngram" else 1
    taken: list[int] = []
    for word in words[start : start + length]:
        touches = not taken or word[0] == taken[-1] + 1
        is_too_much = len(chosen) + len(taken) + len(word) > count
        if not touches or is_too_much or not chosen.isdisjoint(word):
            break
        taken += word
    return taken


def _ngram_length(random: Random) -> int:
    drawn = random.random()
    return 1 + sum(drawn >= sum(NGRAM_WEIGHTS[:n]) for n in range(1, len(NGRAM_WEIGHTS)))


def _shuffle(values: list[int], random: Random) -> None:
    # Not `random.shuffle`, whose numbers may change between versions of Python.
    for last in range(len(values) - 1, 0, -1):
        other = int(random.random() * (last + 1))
        values[last], values[other] = values[other], values[last]
