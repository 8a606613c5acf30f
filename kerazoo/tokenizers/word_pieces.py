"""Normalised text cut into words, and words into WordPiece ids with byte offsets."""

import re
from collections.abc import Sequence

import tensorflow as tf
import tensorflow_text as tf_text

from kerazoo.tokenizers.bert_characters import PUNCTUATION, WHITE_SPACE
from kerazoo.tokenizers.long_words import Pieces, replace_long_words
from kerazoo.tokenizers.token_rows import row_of_each_token

SUFFIX_INDICATOR = "##"
_BYTES_PER_CHARACTER = 4  # the most that UTF-8 needs
_NEVER_IN_WORDS = re.compile(r"[\0\s\ufffd]")


class WordPieces:
    """Greedy longest-match-first WordPiece (Song et al., 2020, arXiv:2012.15524) in the graph.

    Text is split at white space, around each punctuation character and, by option, around each Han
    character. A word that cannot be composed of vocabulary entries, or that has too many
    characters, is one unknown token.

    Args:
        vocabulary: the entries in id order; blank ones match nothing.
        unknown_token: str, an entry.
        max_characters_per_word: int, longest word in characters.
        split_on_cjk: bool, make each Han character a word.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        unknown_token: str,
        max_characters_per_word: int,
        split_on_cjk: bool,
    ) -> None:
        """Compile the vocabulary into constants."""
        with tf.init_scope():
            self._matcher = tf_text.FastWordpieceTokenizer(
                vocab=_matchable(vocabulary),
                suffix_indicator=SUFFIX_INDICATOR,
                max_bytes_per_word=_BYTES_PER_CHARACTER * max_characters_per_word,
                token_out_type=tf.int32,
                unknown_token=unknown_token,
                no_pretokenization=not split_on_cjk,  # the matcher's own splitting
            )
            self._is_continuation = tf.constant(
                [entry.startswith(SUFFIX_INDICATOR) for entry in vocabulary], tf.bool
            )
        self._unknown_id = list(vocabulary).index(unknown_token)
        self._max_characters = max_characters_per_word
        self._split_on_cjk = split_on_cjk

    def tokenize_with_offsets(self, texts: tf.Tensor, is_plain: tf.Tensor | None = None) -> Pieces:
        """Return ids and half-open byte offsets.

        Args:
            texts: (batch,) string, normalised.
            is_plain: (batch,) bool, as `plain_texts.are_plain` says it; None if nobody looked.

        Returns:
            (ids, starts, ends), each (batch, tokens): int32, int64, int64.
        """
        pieces = self._match(texts) if self._split_on_cjk else self._split_and_match(texts)
        return replace_long_words(
            texts,
            pieces,
            self._is_continuation,
            self._max_characters,
            self._unknown_id,
            han_are_words=self._split_on_cjk,
            is_plain=is_plain,
        )

    def _match(self, texts: tf.Tensor) -> Pieces:
        return self._matcher.tokenize_with_offsets(texts)

    def _split_and_match(self, texts: tf.Tensor) -> Pieces:
        """Split into words here, as the matcher always splits around Han characters."""
        words, word_starts, _ = tf_text.regex_split_with_offsets(
            texts, f"{WHITE_SPACE}|{PUNCTUATION}", PUNCTUATION
        )
        ids, starts, ends = self._matcher.tokenize_with_offsets(words)
        shift = tf.gather(word_starts.flat_values, row_of_each_token(starts.values))
        starts = starts.with_flat_values(starts.flat_values + shift)
        ends = ends.with_flat_values(ends.flat_values + shift)
        return ids.merge_dims(1, 2), starts.merge_dims(1, 2), ends.merge_dims(1, 2)


def _matchable(vocabulary: Sequence[str]) -> list[str]:
    """Replace entries that no word can hold, as the matcher refuses them or splits wrongly.

    One more entry that matches nothing is added, as the matcher also refuses a vocabulary in which
    nothing can be matched.
    """
    entries = [
        f"\ufffd{number}" if not entry or _NEVER_IN_WORDS.search(entry) else entry
        for number, entry in enumerate(vocabulary)
    ]
    return [*entries, "\ufffd"]
