"""From logits at masks to tokens, scores and filled texts: one graph, eagerly and served."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.mask_reader import MaskedTexts
from kerazoo.tokenizers.word_pieces import SUFFIX_INDICATOR


class MaskFiller:
    """Chooses the likeliest vocabulary entries for masks and writes them into texts.

    Special tokens are never chosen, nor rows of the embedding matrix without an entry. A score is
    the softmax over the whole vocabulary, so the scores of all entries sum to at most 1.

    Args:
        tokenizer: a tokenizer with a vocabulary.
        vocabulary_size: int, rows of the embedding matrix.
    """

    def __init__(self, tokenizer: Any, vocabulary_size: int) -> None:
        """Make constants of the vocabulary."""
        entries = tokenizer.get_vocabulary()
        is_candidate = np.arange(vocabulary_size) < len(entries)
        is_candidate[tokenizer.special_token_ids] = False
        self.candidates = int(is_candidate.sum())
        with tf.init_scope():
            self._entries = tf.constant(entries, tf.string)
            self._is_candidate = tf.constant(is_candidate)

    def check_top_k(self, top_k: int) -> None:
        """Raise ValueError unless there are `top_k` entries to choose from."""
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 0 < top_k:
            raise ValueError(
                f"`top_k` must be a whole number above zero. Received: top_k={top_k!r}"
            )
        if top_k > self.candidates:
            raise ValueError(
                f"The vocabulary has {self.candidates} entries that can stand in a text. "
                f"Received: top_k={top_k}"
            )

    def best(self, logits: tf.Tensor, top_k: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Return ids, tokens and scores of the likeliest entries, best first.

        Args:
            logits: (batch, masks, vocabulary) float32.
            top_k: int, entries for each mask.

        Returns:
            Three tensors, (batch, masks, top_k): int32, string, float32.
        """
        probabilities = tf.nn.softmax(logits)
        scores, ids = tf.math.top_k(tf.where(self._is_candidate, probabilities, -1.0), top_k)
        return ids, tf.gather(self._entries, ids), scores

    def answers(self, logits: tf.Tensor, read: MaskedTexts, top_k: int) -> dict[str, tf.Tensor]:
        """Return what is said of each text.

        Args:
            logits: (batch, masks, vocabulary) float32, at the masks of `read`.
            read: the texts.
            top_k: int, entries for each mask.

        Returns:
            `tokens` (batch, masks, top_k) string and `scores` (batch, masks, top_k) float32, best
            first, "" and 0 on unused slots; `positions` (batch, masks) int32, the character at
            which each mask begins, -1 on unused slots; `mask_count` (batch,) int32, all masks of
            the text; `filled_text` (batch,) string, with the best token at each mask that has a
            slot.
        """
        _, tokens, scores = self.best(logits, top_k)
        is_used = read.is_used[:, :, tf.newaxis]
        tokens = tf.where(is_used, tokens, "")
        return {
            "tokens": tokens,
            "scores": tf.where(is_used, scores, 0.0),
            "positions": tf.where(read.is_used, read.starts, -1),
            "mask_count": read.counts,
            "filled_text": filled_texts(read.texts, read.starts, read.ends, tokens[:, :, 0]),
        }

    def candidate_texts(self, read: MaskedTexts, tokens: tf.Tensor) -> tf.Tensor:
        """Return the text with each candidate in its mask, and the best one in every other mask.

        Args:
            read: the texts.
            tokens: (batch, masks, top_k) string, as in `answers`.

        Returns:
            (batch, masks, top_k) string.
        """
        batch, masks, top_k = tokens.shape
        is_own = tf.eye(masks, dtype=tf.bool)[tf.newaxis, :, tf.newaxis, :]
        best = tokens[:, tf.newaxis, tf.newaxis, :, 0]
        chosen = tf.where(is_own, tokens[:, :, :, tf.newaxis], best)
        texts, starts, ends = (
            tf.repeat(values, masks * top_k, axis=0)
            for values in (read.texts, read.starts, read.ends)
        )
        filled = filled_texts(texts, starts, ends, tf.reshape(chosen, (-1, masks)))
        return tf.reshape(filled, (batch, masks, top_k))


def filled_texts(
    texts: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor, tokens: tf.Tensor
) -> tf.Tensor:
    """Replace spans of texts by tokens; "##s" goes on with the word before it, without a space.

    Args:
        texts: (batch,) string, valid UTF-8.
        starts: (batch, masks) int32, the first character of each span, in ascending order.
        ends: (batch, masks) int32, the character behind it.
        tokens: (batch, masks) string.

    Returns:
        (batch,) string.
    """
    length = tf.strings.length(texts, unit="UTF8_CHAR")[:, tf.newaxis]
    begins = tf.concat([tf.zeros_like(length), ends], axis=1)
    sizes = tf.concat([starts, length], axis=1) - begins
    repeated = tf.repeat(texts[:, tf.newaxis], tf.shape(begins)[1], axis=1)
    parts = tf.strings.substr(repeated, begins, sizes, unit="UTF8_CHAR")
    before, last = parts[:, :-1], parts[:, -1]
    goes_on = tf.strings.regex_full_match(tokens, f"{SUFFIX_INDICATOR}.+")
    before = tf.where(goes_on, tf.strings.regex_replace(before, r"\s+$", ""), before)
    pieces = tf.strings.regex_replace(tokens, f"^{SUFFIX_INDICATOR}", "")
    joined = tf.strings.join([before, tf.where(goes_on, pieces, tokens)])
    return tf.strings.join([tf.strings.reduce_join(joined, axis=1), last])
