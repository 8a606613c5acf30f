"""From raw texts to GPT-1's ids and back: the steps of its tokenizer in order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.tokenizers.bert_characters import HAN, PUNCTUATION, WHITE_SPACE
from kerazoo.tokenizers.bert_normalizer import BertNormalizer
from kerazoo.tokenizers.bpe_merges import BPEMerges
from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.bpe_words import BPEWords, Symbols
from kerazoo.tokenizers.character_offsets import to_character_offsets
from kerazoo.tokenizers.integer_index import IntegerIndex
from kerazoo.tokenizers.text_marks import TextMarks

END_OF_WORD = "</w>"
_CUT = b"\xff"  # valid UTF-8 never holds this byte


class GPTBPEEncoder:
    """Normalises, cuts into words and merges characters, without any state that changes.

    Args:
        vocabulary: entries and merges.
        special_tokens: the tokens to recognise in texts, and their ids.
        task_tokens: tokens that stand after the entries and that no text gives.
        unknown_token: str, the entry of characters that are not in the vocabulary.
        lowercase: bool, lower-case the text.
        strip_accents: bool, delete combining marks.
    """

    def __init__(
        self,
        vocabulary: BPEVocabulary,
        special_tokens: Mapping[str, int],
        task_tokens: Sequence[str],
        unknown_token: str,
        lowercase: bool,
        strip_accents: bool,
    ) -> None:
        """Compile vocabulary and merges into constants."""
        self._normalizer = BertNormalizer(
            lowercase, strip_accents, map_quotes=False, keep_reserved=bool(special_tokens)
        )
        self._marks = TextMarks(list(special_tokens))
        entries, ids, merges = vocabulary.entries, vocabulary.ids, vocabulary.merges
        unknown_id = ids[unknown_token]
        ends = np.array([_end_symbols(entry, ids, unknown_id) for entry in entries])
        symbols = {_symbol_key(entry): number for entry, number in ids.items() if _is_symbol(entry)}
        self._symbols = IntegerIndex(np.fromiter(symbols, np.int64, len(symbols)))
        with tf.init_scope():
            # The last one is for what is not found.
            self._symbol_ids = tf.constant([*symbols.values(), unknown_id], tf.int32)
            shown = [_without_mark(entry) + " " * _is_marked(entry) for entry in entries]
            self._forms = tf.constant([*shown, *task_tokens])
        placeholders = [placeholder.encode("utf-8") for placeholder in self._marks.placeholders]
        self._tokens = BPEWords(
            {_without_mark(e).encode("utf-8"): n for e, n in ids.items() if _is_marked(e)},
            self._to_symbols,
            BPEMerges(merges, ids, ends[:, 0], ends[:, 1]),
            dict(zip(placeholders, special_tokens.values(), strict=True)),
            cuts=False,  # a word's last character has another symbol than the same one elsewhere
        )
        signature = [tf.TensorSpec([None], tf.string)]
        compiled: Any = {"input_signature": signature, "autograph": False}
        self._look_up_compiled = tf.function(self._look_up, **compiled)
        self.encode = tf.function(self._encode, **compiled)
        self.encode_with_offsets = tf.function(self._encode_with_offsets, **compiled)

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Return the texts of ids, (batch, tokens) int32, as (batch,) string."""
        texts = tf.strings.reduce_join(tf.gather(self._forms, ids), axis=-1)
        return tf.strings.regex_replace(texts, r" \z", "")

    def _encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        ids, _, _ = self._look_up_compiled(self._normalize(self._marks.mark(texts)))
        return ids

    def _encode_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        marked = self._marks.mark(texts)
        normalized = self._normalize(marked)
        ids, starts, ends = self._look_up_compiled(normalized)
        caller_lengths = self._marks.caller_lengths if self._marks else None
        starts, ends = to_character_offsets(
            marked, normalized, starts, ends, self._normalize, caller_lengths
        )
        return ids, starts, ends

    def _normalize(self, marked: tf.Tensor) -> tf.Tensor:
        return self._marks.expand(self._normalizer(marked))

    def _look_up(
        self, normalized: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids and half-open byte offsets, each (batch, tokens): int32, int64, int64."""
        cut = tf.strings.regex_replace(
            normalized, f"{WHITE_SPACE}+|{PUNCTUATION}|{HAN}", _CUT + rb"\0" + _CUT
        )
        # White space stays, as a word without tokens, so that lengths tell where words stand.
        words = tf.strings.split(cut, sep=_CUT)
        tokens = self._tokens.encode(words.values)
        lengths = tf.cast(tf.strings.length(words.values), tf.int64)
        word_starts = tf.cumsum(lengths, exclusive=True)
        row_starts = tf.cumsum(tf.cast(tf.strings.length(normalized), tf.int64), exclusive=True)
        word_starts -= tf.repeat(row_starts, words.row_lengths())
        shift = tf.repeat(word_starts, tokens.counts)
        ids = tokens.in_rows(words)
        starts = ids.with_values(tf.cast(tokens.starts, tf.int64) + shift)
        return ids, starts, ids.with_values(tf.cast(tokens.ends, tf.int64) + shift)

    def _to_symbols(self, words: tf.Tensor) -> Symbols:
        """Cut words into characters, the last of which carries the end-of-word mark."""
        words = tf.strings.regex_replace(words, f"{WHITE_SPACE}+", "")
        characters = tf.strings.unicode_decode(words, "UTF-8")
        codes = characters.values
        splits = tf.cast(characters.row_splits, tf.int32)
        ends = tf.boolean_mask(splits[1:], splits[1:] > splits[:-1]) - 1
        is_last = tf.scatter_nd(ends[:, tf.newaxis], tf.ones_like(ends), tf.shape(codes))
        found = self._symbols.find(tf.cast(2 * codes + is_last, tf.int64))
        unknown = tf.size(self._symbol_ids) - 1
        ids = tf.gather(self._symbol_ids, tf.where(found < 0, unknown, found))
        above = [tf.cast(codes >= first, tf.int32) for first in (0x80, 0x800, 0x10000)]
        return Symbols(ids, 1 + tf.add_n(above), splits)


def _is_marked(entry: str) -> bool:
    return entry.endswith(END_OF_WORD) and entry != END_OF_WORD


def _without_mark(entry: str) -> str:
    return entry.removesuffix(END_OF_WORD) if _is_marked(entry) else entry


def _is_symbol(entry: str) -> bool:
    return len(_without_mark(entry)) == 1


def _symbol_key(entry: str) -> int:
    return 2 * ord(_without_mark(entry)) + _is_marked(entry)


def _end_symbols(entry: str, ids: Mapping[str, int], unknown_id: int) -> tuple[int, int]:
    """Return the ids of an entry's first and last symbol."""
    if _is_symbol(entry) or not entry:
        return ids.get(entry, unknown_id), ids.get(entry, unknown_id)
    characters = _without_mark(entry)
    last = characters[-1] + END_OF_WORD * _is_marked(entry)
    return ids.get(characters[0], unknown_id), ids.get(last, unknown_id)
