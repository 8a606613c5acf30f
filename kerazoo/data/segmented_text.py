"""Chinese text with spaces between its words: what a segmenter says, checked against the text."""

import re
from collections.abc import Sequence

from kerazoo.tokenizers.bert_characters import HAN

_HAN = re.compile(re.sub(r"\\x\{(\w+)\}", lambda match: chr(int(match[1], 16)), HAN))


def segmented_text(text: str, words: Sequence[str]) -> str | None:
    """Return a text with a space between its words.

    A space is added where two words meet and a Han character stands on either side; there BERT's
    tokenizer cuts anyway, so its ids stay the same. White space counts neither in the text nor in
    the words, as segmenters treat it differently.

    Args:
        text: one line.
        words: its words in order.

    Returns:
        The text with spaces, or None if the words do not make up the text.
    """
    lengths = [len("".join(word.split())) for word in words]
    if "".join("".join(words).split()) != "".join(text.split()):
        return None
    ends = set()
    position = 0
    for length in lengths:
        position += length
        ends.add(position)
    return _with_spaces(text, ends)


def character_text(text: str) -> str:
    """Return a text with spaces around each Han character: every one is a word."""
    return _HAN.sub(r" \g<0> ", text)


def _with_spaces(text: str, ends: set[int]) -> str:
    """Insert a space after each number of visible characters in `ends` beside a Han character."""
    parts: list[str] = []
    before = " "
    visible = 0
    for character in text:
        if not character.isspace():
            meets = visible in ends and not before.isspace()
            if meets and (_HAN.match(before) or _HAN.match(character)):
                parts.append(" ")
            visible += 1
        parts.append(character)
        before = character
    return "".join(parts)
