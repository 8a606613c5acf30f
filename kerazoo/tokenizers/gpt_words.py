"""GPT-2's cut of a text into words, in the graph."""

import re
from collections.abc import Sequence

import tensorflow as tf

# RE2's \s is ASCII only, and its Unicode tables may be older than the reference's, so Unicode's
# white space and the letters and numbers of Unicode 15.1 and 16 are named.
_SPACE = r"\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_LATER_LETTERS = (
    "1C89-1C8A A7CB-A7CD A7DA-A7DC 105C0-105F3 10D4A-10D65 10D6F-10D85 10EC2-10EC4 11380-11389 "
    "1138B-1138B 1138E-1138E 11390-113B5 113B7-113B7 113D1-113D1 113D3-113D3 11BC0-11BE0 "
    "13460-143FA 16100-1611D 16D40-16D6C 18CFF-18CFF 1E5D0-1E5ED 1E5F0-1E5F0 2EBF0-2EE5D"
)
_LATER_NUMBERS = (
    "10D40-10D49 116D0-116E3 11BF0-11BF9 16130-16139 16D70-16D79 1CCF0-1CCF9 1E5F1-1E5FA"
)


def _ranges(ranges: str) -> str:
    return re.sub(r"(\w+)-(\w+) ?", r"\\x{\1}-\\x{\2}", ranges)


_LETTER = rf"\p{{L}}{_ranges(_LATER_LETTERS)}"
_NUMBER = rf"\p{{N}}{_ranges(_LATER_NUMBERS)}"
_WORD = (
    rf"'(?:s|t|re|ve|m|ll|d)| ?[{_LETTER}]+| ?[{_NUMBER}]+| ?[^{_SPACE}{_LETTER}{_NUMBER}]+"
    rf"|[{_SPACE}]+"
)
# GPT-2's `\s+(?!\S)`: white space before a word leaves its last character to what follows.
_LAST_OF_SPACE = rf"([{_SPACE}])([{_SPACE}][^{_SPACE}])"

# Bytes that valid UTF-8 never holds, and that no pattern matches.
_CUT = b"\xff"
_SPECIAL = b"\xfe"


class GPTWords:
    r"""Cuts texts into the words within which GPT-2 merges.

    The words are those of GPT-2's pattern, `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+|
    ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`. Every byte of the text is in one word.

    Args:
        special_tokens: strings that are a word of their own wherever they stand.

    Attributes:
        special_words: the word that stands for each special token, which no text can hold.
    """

    def __init__(self, special_tokens: Sequence[str] = ()) -> None:
        """Choose a word for each special token."""
        self.special_words = [_SPECIAL * (number + 1) for number in range(len(special_tokens))]
        # A token may begin like another one: the longer one is looked for first.
        pairs = zip(special_tokens, self.special_words, strict=True)
        self._pairs = sorted(pairs, key=lambda pair: -len(pair[0]))

    def __call__(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return the words of texts.

        A special operation for this exists in TensorFlow Text; marking the cuts by replacement and
        splitting there takes a tenth of its time.

        Args:
            texts: (batch,) string, valid UTF-8.

        Returns:
            (batch, words) string; some words are "", which stand for nothing.
        """
        for token, word in self._pairs:
            texts = tf.strings.regex_replace(texts, re.escape(token), _CUT + word + _CUT)
        texts = tf.strings.regex_replace(texts, _LAST_OF_SPACE, rb"\1" + _CUT + rb"\2")
        texts = tf.strings.regex_replace(texts, _WORD, rb"\0" + _CUT)
        return tf.strings.split(texts, sep=_CUT)
