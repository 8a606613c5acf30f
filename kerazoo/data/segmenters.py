"""Chinese word segmenters by name, and the lines that they cannot be trusted with."""

from collections.abc import Sequence
from typing import Protocol

from kerazoo.class_table import ClassTable, class_named
from kerazoo.data.segmented_text import character_text, segmented_text

NONE = "none"
_CLASSES: ClassTable = {
    "jieba": ("kerazoo.data.jieba_segmenter", "JiebaSegmenter"),
    "ltp": ("kerazoo.data.ltp_segmenter", "LTPSegmenter"),
}


class Segmenter(Protocol):
    """Cuts texts into words."""

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, in order."""


def make_segmenter(name: str | None, model: str | None = None) -> Segmenter | None:
    """Return a segmenter; None if texts are taken as they are.

    Args:
        name: "jieba", "ltp", or "none" and None, which need no segmenter.
        model: name or folder of LTP's model; None is its default.

    Raises:
        ModuleNotFoundError: if its package is not installed.
    """
    if name is None or name == NONE:
        return None
    segmenter_class = class_named("segmenter", name, _CLASSES)
    return segmenter_class() if model is None else segmenter_class(model)


def segment(segmenter: Segmenter, texts: Sequence[str]) -> tuple[list[str], int]:
    """Return texts with spaces between their words, and how many could not be segmented.

    Where the words do not make up the text, each Han character becomes a word.

    Args:
        segmenter: cuts texts into words.
        texts: lines.
    """
    segmented, failed = [], 0
    for text, words in zip(texts, segmenter.words(texts), strict=True):
        spaced = segmented_text(text, words)
        failed += spaced is None
        segmented.append(character_text(text) if spaced is None else spaced)
    return segmented, failed
