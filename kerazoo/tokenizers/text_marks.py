"""Marks in raw text, made before it is normalised: special tokens and unknown symbols."""

import re
from collections.abc import Sequence

import tensorflow as tf

# The last private-use characters of Unicode. BERT deletes private-use characters from text, so the
# caller's own can be replaced by U+FFFD (also deleted, also one character).
_BREAK = 0x10FFF0
_FIRST_PLACEHOLDER = 0x10FFF1
_LAST_PLACEHOLDER = 0x10FFFD
_RESERVED = r"[\x{10fff0}-\x{10fffd}]"


class TextMarks:
    """Writes reserved characters into raw text, and knows what they stand for.

    A special token becomes one reserved character, which neither lower-casing nor splitting can
    break; a run of unknown symbols gets a reserved break on both sides. Both turn into words of
    their own once `expand` has put spaces around them. Nothing a caller writes can imitate them.

    Args:
        special_tokens: strings to recognise in the text; none by default.
        symbols: a regular expression of the runs to split off; None for none.

    Attributes:
        placeholders: the word for each special token, to be added to the vocabulary.
    """

    def __init__(self, special_tokens: Sequence[str] = (), symbols: str | None = None) -> None:
        """Assign a reserved character to each special token."""
        count = _LAST_PLACEHOLDER - _FIRST_PLACEHOLDER + 1
        if len(special_tokens) > count:
            raise ValueError(
                f"At most {count} special tokens can be recognised in texts. "
                f"Received: special_tokens={list(special_tokens)!r}"
            )
        self.placeholders = [chr(_FIRST_PLACEHOLDER + i) for i in range(len(special_tokens))]
        # A token may begin like another one: the longer one is looked for first.
        pairs = zip(special_tokens, self.placeholders, strict=True)
        self._pairs = sorted(pairs, key=lambda pair: -len(pair[0]))
        self._lengths = [len(token) for token in special_tokens]
        self._symbols = symbols

    def __bool__(self) -> bool:
        """Whether there is anything to mark."""
        return bool(self._pairs) or self._symbols is not None

    def mark(self, texts: tf.Tensor) -> tf.Tensor:
        """Return raw texts with reserved characters in them, (batch,) string."""
        if not self:
            return texts
        texts = tf.strings.regex_replace(texts, _RESERVED, "\ufffd")
        for token, placeholder in self._pairs:
            texts = tf.strings.regex_replace(texts, re.escape(token), placeholder)
        if self._symbols is not None:
            mark = chr(_BREAK)
            texts = tf.strings.regex_replace(texts, self._symbols, rf"{mark}\0{mark}")
        return texts

    def expand(self, texts: tf.Tensor) -> tf.Tensor:
        """Return normalised texts with reserved characters set apart by spaces, (batch,) string."""
        if self._pairs:
            texts = tf.strings.regex_replace(texts, r"[\x{10fff1}-\x{10fffd}]", r" \0 ")
        if self._symbols is not None:
            texts = tf.strings.regex_replace(texts, r"\x{10fff0}", " ")
        return texts

    def caller_lengths(self, code_points: tf.Tensor) -> tf.Tensor:
        """Return how many characters of the caller's text each code point stands for.

        Args:
            code_points: (n,) int32.

        Returns:
            (n,) int64: 1, or the length of the special token, or 0 for a break.
        """
        lengths = tf.constant([0, *self._lengths], tf.int64)
        number = code_points - _BREAK
        is_reserved = (number >= 0) & (number < tf.size(lengths))
        length = tf.gather(lengths, tf.where(is_reserved, number, 0))
        return tf.where(is_reserved, length, tf.ones_like(length))
