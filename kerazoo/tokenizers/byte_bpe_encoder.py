"""From raw texts to byte-level BPE ids and back: the steps of GPT-2's tokenizer in order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.tokenizers.bpe_merges import BPEMerges
from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.bpe_words import BPEWords, Symbols
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS, entry_to_bytes
from kerazoo.tokenizers.gpt_words import GPTWords


class ByteBPEEncoder:
    """Cuts into words and merges bytes, without any state that changes.

    Args:
        vocabulary: entries and merges.
        special_tokens: the tokens to recognise in texts, and their ids.
        task_tokens: tokens that stand after the entries and that no text gives.
    """

    def __init__(
        self,
        vocabulary: BPEVocabulary,
        special_tokens: Mapping[str, int],
        task_tokens: Sequence[str],
    ) -> None:
        """Compile vocabulary and merges into constants."""
        entries, ids, merges = vocabulary.entries, vocabulary.ids, vocabulary.merges
        symbol_ids = np.array([ids[character] for character in BYTE_CHARACTERS], np.int32)
        forms = [entry_to_bytes(entry) for entry in entries]
        ends = np.array([(form[0], form[-1]) if form else (0, 0) for form in forms])
        bpe = BPEMerges(merges, ids, symbol_ids[ends[:, 0]], symbol_ids[ends[:, 1]])
        reached = [*symbol_ids.tolist(), *bpe.results.tolist()]
        forms += [token.encode("utf-8") for token in task_tokens]
        self._words = GPTWords(list(special_tokens))
        with tf.init_scope():
            self._symbol_ids = tf.constant(symbol_ids)
            self._forms = tf.constant(forms)
            self._byte_counts = tf.constant([len(form) for form in forms], tf.int32)
        self._tokens = BPEWords(
            {forms[number]: number for number in reached},
            self._to_symbols,
            bpe,
            dict(zip(self._words.special_words, special_tokens.values(), strict=True)),
            cuts=True,
        )
        signature = [tf.TensorSpec([None], tf.string)]
        compiled: Any = {"input_signature": signature, "autograph": False}
        self.encode = tf.function(self._encode, **compiled)
        self.encode_with_offsets = tf.function(self._encode_with_offsets, **compiled)

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Return the bytes of ids, (batch, tokens) int32, as (batch,) string."""
        return tf.strings.reduce_join(tf.gather(self._forms, ids), axis=-1)

    def _encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        words = self._words(texts)
        return self._tokens.encode(words.values).in_rows(words)

    def _encode_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        ids = self.encode(texts)
        # Every byte is in one token, so that tokens side by side tell where each stands.
        byte_counts = tf.gather(self._byte_counts, ids.values)
        ends = tf.cumsum(byte_counts)
        starts, ends = _character_offsets(texts, ends - byte_counts, ends)
        row_starts = tf.cumsum(tf.strings.length(texts, unit="UTF8_CHAR"), exclusive=True)
        shift = tf.repeat(row_starts, ids.row_lengths())
        return ids, ids.with_values(starts - shift), ids.with_values(ends - shift)

    def _to_symbols(self, words: tf.Tensor) -> Symbols:
        """Cut words into bytes."""
        data = tf.io.decode_raw(tf.strings.reduce_join(words), tf.uint8)
        ids = tf.gather(self._symbol_ids, tf.cast(data, tf.int32))
        word_splits = tf.concat([[0], tf.cumsum(tf.strings.length(words))], axis=0)
        return Symbols(ids, tf.ones_like(ids), word_splits)


def _character_offsets(
    texts: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Map bytes of all texts, side by side, to characters: starts round down, ends up."""
    joined = tf.strings.reduce_join(texts)

    def mapped() -> tuple[tf.Tensor, tf.Tensor]:
        data = tf.io.decode_raw(joined, tf.uint8)
        starts_character = tf.bitwise.bitwise_and(data, 0xC0) != 0x80
        number = tf.cumsum(tf.cast(starts_character, tf.int32))
        return tf.gather(number, starts) - 1, tf.gather(number, ends - 1)

    is_ascii = tf.strings.length(joined) == tf.strings.length(joined, unit="UTF8_CHAR")
    return tf.cond(is_ascii, lambda: (starts, ends), mapped)
