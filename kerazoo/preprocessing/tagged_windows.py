"""Texts as packed windows, with the window and the position that stand for each word."""

import dataclasses
from typing import Any

import tensorflow as tf

from kerazoo.preprocessing.packing import PackingTemplate, check_room, pack_parts
from kerazoo.preprocessing.text_words import (
    NO_TOKEN,
    TextWords,
    joined_words,
    words_given,
    words_of_texts,
)
from kerazoo.preprocessing.trimmed_offsets import trimmed_offsets
from kerazoo.preprocessing.windows import Windows, check_stride, windows_of
from kerazoo.tokenizers.texts import to_text_tensor

SPECIALS = 2
"""Special tokens of a row: before the text and behind it."""


@dataclasses.dataclass(frozen=True)
class TaggedWindows:
    """The rows of some texts: each window of a text is one.

    Every token is owned by one window, that in which it is most central.

    Args:
        texts: (texts,) string, valid UTF-8; given words joined.
        features: `token_ids`, `segment_ids` and `padding_mask`, each (windows, seq) int32.
        windows: which tokens of which text stand in each row.
        words: the words of the texts.
        token_count: (texts,) int64.
        owner: (all tokens,) int32, the window that owns each token, text by text.
    """

    texts: tf.Tensor
    features: dict[str, tf.Tensor]
    windows: Windows
    words: TextWords
    token_count: tf.Tensor
    owner: tf.Tensor

    def visible_words(self) -> tf.Tensor:
        """Return which words have a token, counted over all texts, (n,) int64."""
        return tf.where(self.words.first_token.flat_values != NO_TOKEN)[:, 0]

    def first_tokens(self, words: tf.Tensor) -> tf.Tensor:
        """Return the first tokens of words, counted over all texts.

        Args:
            words: (n,) int64, counted over all texts.

        Returns:
            (n,) int32.
        """
        rows = tf.gather(self.words.first_token.value_rowids(), words)
        before = tf.cumsum(self.token_count, exclusive=True)
        return tf.gather(self.words.first_token.flat_values, words) + tf.cast(
            tf.gather(before, rows), tf.int32
        )

    def positions_in(self, windows: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Return where tokens stand in the rows of windows, (n,) int32; there may be none.

        Args:
            windows: (n,) int32, windows of the tokens' texts.
            tokens: (n,) int32, counted over all texts.
        """
        document = tf.gather(self.windows.document, windows)
        before = tf.cast(tf.cumsum(self.token_count, exclusive=True), tf.int32)
        first = tf.gather(before, document) + tf.gather(self.windows.first, windows)
        return tokens - first + 1

    def places(self, tokens: tf.Tensor) -> tf.Tensor:
        """Return window and position where each token is most central, (n, 2) int32.

        Args:
            tokens: (n,) int32, counted over all texts.
        """
        window = tf.gather(self.owner, tokens)
        return tf.stack([window, self.positions_in(window, tokens)], axis=1)


def tagged_windows(
    tokenizer: Any,
    sequence_length: int,
    stride: int | None = None,
    texts: Any = None,
    words: tf.RaggedTensor | None = None,
    separator: str = " ",
    pad_to_multiple_of: int | None = None,
) -> TaggedWindows:
    """Tokenise and pack texts; of a long one every window is a row.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row.
        stride: int, how many tokens after a window the next one begins; None is half of a window.
        texts: (texts,) string; None if words are given.
        words: (texts, words) string, ragged; None if texts are.
        separator: str, what stands between given words.
        pad_to_multiple_of: as for `kerazoo.preprocessing.packing.pack`.

    Raises:
        ValueError: if the stride leaves gaps, or rows have no room.
    """
    check_room(sequence_length, SPECIALS)
    width = sequence_length - SPECIALS
    stride = (width + 1) // 2 if stride is None else stride
    check_stride(stride, width)
    if words is not None:
        words = to_text_tensor(words).with_row_splits_dtype(tf.int64)
        texts = joined_words(words, separator)
    texts = to_text_tensor(texts)
    ids, starts, ends = tokenizer.tokenize_with_offsets(texts)
    starts, ends = trimmed_offsets(texts, starts, ends)
    found = (
        words_of_texts(texts, starts, ends)
        if words is None
        else words_given(words, separator, starts, ends)
    )
    windows = windows_of(ids.row_lengths(), width, stride)
    template = PackingTemplate.from_tokenizer(tokenizer)
    features = pack_parts(
        [windows.part(ids)], [windows.length], template, sequence_length, pad_to_multiple_of
    )
    # Owned tokens follow each other from window to window, so this is their order in the texts.
    owner = tf.cast(tf.where(windows.owners(width))[:, 0], tf.int32)
    return TaggedWindows(texts, features, windows, found, ids.row_lengths(), owner)
