"""Chinese words by LTP, a neural model, as Whole-Word-Masking BERT used it."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

DEFAULT_MODEL = "LTP/small"
_TEXTS_AT_ONCE = 32
# LTP drops what is behind 512 tokens, of which a character gives at most one.
_LONGEST = 500
_SENTENCE_END = re.compile("[。！？；…\n]")


class LTPSegmenter:
    """Words of LTP's task `cws`.

    Long lines are cut behind the last sentence that fits, as LTP reads 512 tokens.

    Args:
        model: name or folder of an LTP model, or a loaded `ltp.LTP`.

    Raises:
        ModuleNotFoundError: if LTP is not installed.
        OSError: if the model cannot be loaded.
    """

    def __init__(self, model: Any = DEFAULT_MODEL) -> None:
        """Load the model; a name is downloaded once."""
        self._model = _loaded(model) if isinstance(model, str) else model

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, in order."""
        words: list[list[str]] = [[] for _ in texts]
        parts = [(row, part) for row, text in enumerate(texts) for part in _short_parts(text)]
        for start in range(0, len(parts), _TEXTS_AT_ONCE):
            portion = parts[start : start + _TEXTS_AT_ONCE]
            found = self._model.pipeline([part for _, part in portion], tasks=["cws"]).cws
            for (row, _), part_words in zip(portion, found, strict=True):
                words[row] += part_words
        return words


def _loaded(model: str) -> Any:
    try:
        from ltp import LTP
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "The segmenter LTP is not installed: pip install 'kerazoo[ltp]'"
        ) from error
    try:
        return LTP(model)
    except Exception as error:
        # The Hub's client raises errors of many kinds.
        raise OSError(
            "LTP's model cannot be loaded. Name a folder that holds one, or a model of the Hugging "
            f"Face Hub that can be reached. Received: segmenter_model={model!r} ({error})"
        ) from error


def _short_parts(text: str) -> Iterator[str]:
    """Yield pieces that LTP reads whole; blank ones, for which it has no words, are left out."""
    start = 0
    while len(text) - start > _LONGEST:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, start, start + _LONGEST)]
        end = ends[-1] if ends else start + _LONGEST
        if not text[start:end].isspace():
            yield text[start:end]
        start = end
    if text[start:].strip():
        yield text[start:]
