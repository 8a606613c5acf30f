"""Symbols and emoji that a vocabulary does not know, as a regular expression."""

import unicodedata
from collections.abc import Callable, Collection, Iterable

import tensorflow as tf

from kerazoo.tokenizers.word_pieces import SUFFIX_INDICATOR

# Emoji blocks, whole: newer emoji than this Python's Unicode tables know are in them too.
_EMOJI = range(0x1F000, 0x1FB00)
_WITH_SYMBOLS = range(0x80, 0x20000)  # later planes hold Han characters and private use
_ATTACHED = r"[\p{Mn}\p{Me}\p{Cf}]"


def unknown_symbol_runs(
    vocabulary: Collection[str], normalize: Callable[[tf.Tensor], tf.Tensor]
) -> str:
    """Return a pattern of the runs of symbols that should not be part of a word.

    A symbol may stay in a word if the vocabulary can continue a word with it ("##°"). Otherwise
    it would make the whole word unknown. If the vocabulary has it as a word, it is matched alone
    and becomes that word; those that it does not have at all are matched as one run.

    Args:
        vocabulary: the entries.
        normalize: the tokenizer's normalisation; the vocabulary holds normalised symbols.

    Returns:
        An RE2 pattern for raw text.
    """
    entries = set(vocabulary)
    symbols = [symbol for symbol in map(chr, _WITH_SYMBOLS) if _is_symbol(symbol)]
    with tf.init_scope():
        normalized = [form.decode("utf-8") for form in normalize(tf.constant(symbols)).numpy()]
    unknown: list[int] = []
    alone: list[int] = []
    for symbol, form in zip(symbols, normalized, strict=True):
        if len(form) != 1 or not _is_symbol(form) or SUFFIX_INDICATOR + form in entries:
            continue
        (alone if form in entries else unknown).append(ord(symbol))
    patterns = []
    if unknown:
        run = _character_class(unknown)
        patterns.append(rf"{run}(?:{run}|{_ATTACHED})*")
    if alone:
        patterns.append(rf"{_character_class(alone)}{_ATTACHED}*")
    return "|".join(patterns) or r"[^\x00-\x{10ffff}]"  # nothing unknown: matches nothing


def _is_symbol(character: str) -> bool:
    if ord(character) < 0x80:  # ASCII symbols are punctuation to BERT
        return False
    category = unicodedata.category(character)
    return category[0] == "S" or category == "Me" or ord(character) in _EMOJI


def _character_class(code_points: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for code in code_points:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in ranges) + "]"
