"""Chinese words by the package jieba."""

import logging
import warnings
from collections.abc import Sequence


class JiebaSegmenter:
    """Words of jieba's precise mode, with its model for words that its dictionary lacks.

    Raises:
        ModuleNotFoundError: if jieba is not installed.
    """

    def __init__(self) -> None:
        """Load the dictionary, which takes a second."""
        with warnings.catch_warnings():
            # Old escape sequences, and a deprecated way to find its own files.
            warnings.simplefilter("ignore")
            try:
                import jieba
            except ModuleNotFoundError as error:
                raise ModuleNotFoundError(
                    "The segmenter jieba is not installed: pip install 'kerazoo[zh]'"
                ) from error
            jieba.setLogLevel(logging.WARNING)
            # One of its own: the package's shared one may have been given other words.
            self._tokenizer = jieba.Tokenizer()
            self._tokenizer.initialize()

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, in order."""
        return [self._tokenizer.lcut(text) for text in texts]
