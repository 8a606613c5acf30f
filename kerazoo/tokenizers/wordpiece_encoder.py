"""From raw texts to WordPiece ids and back: the steps of BERT's tokenizer in order."""

import functools
from collections.abc import Sequence

import tensorflow as tf

from kerazoo.tokenizers.bert_normalizer import BertNormalizer
from kerazoo.tokenizers.character_offsets import to_character_offsets
from kerazoo.tokenizers.detokenization import join_word_pieces
from kerazoo.tokenizers.long_words import Pieces
from kerazoo.tokenizers.plain_texts import are_plain
from kerazoo.tokenizers.text_marks import TextMarks
from kerazoo.tokenizers.texts import valid_utf8
from kerazoo.tokenizers.unknown_symbols import unknown_symbol_runs
from kerazoo.tokenizers.word_pieces import WordPieces
from kerazoo.tokenizers.word_starts import WordStarts


class WordPieceEncoder:
    """Marks, normalises, splits and looks up, without any state that changes.

    Args:
        vocabulary: the entries in id order.
        unknown_token: str, an entry.
        lowercase: bool, lower-case the text.
        strip_accents: bool, delete combining marks.
        split_on_cjk: bool, make each Han character a word.
        special_tokens: entries to recognise in raw text.
        max_characters_per_word: int, longer words are unknown.
        split_unknown: bool, split unknown symbols off words.
        map_quotes: bool, read curly quotes and the ellipsis as ASCII.

    Attributes:
        vocabulary: the entries in id order.
        ids: the id of each entry.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        unknown_token: str,
        lowercase: bool,
        strip_accents: bool,
        split_on_cjk: bool,
        special_tokens: Sequence[str],
        max_characters_per_word: int,
        split_unknown: bool,
        map_quotes: bool,
    ) -> None:
        """Compile the vocabulary and the patterns."""
        keep_reserved = split_unknown or bool(special_tokens)
        self._normalizer = BertNormalizer(lowercase, strip_accents, map_quotes, keep_reserved)
        symbols = unknown_symbol_runs(vocabulary, self._normalizer) if split_unknown else None
        self._marks = TextMarks(special_tokens, symbols)
        placeholders = self._marks.placeholders
        matched = ["" if entry in placeholders else entry for entry in vocabulary] + placeholders
        self._pieces = WordPieces(matched, unknown_token, max_characters_per_word, split_on_cjk)
        self.vocabulary = tuple(vocabulary)
        self.ids = {entry: number for number, entry in enumerate(vocabulary)}
        self._unknown_id = self.ids[unknown_token]
        self._split_on_cjk = split_on_cjk
        self._max_characters_per_word = max_characters_per_word
        with tf.init_scope():
            self._entries = tf.constant(list(vocabulary), tf.string)
            # Placeholders have ids after the vocabulary's: they stand for the special tokens' ids.
            self._final_ids = tf.constant(
                [*range(len(vocabulary)), *(self.ids[token] for token in special_tokens)], tf.int32
            )
        self._encode_traced = tf.function(
            self._encode, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
        )

    def encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return the ids of texts, (batch,) string, as (batch, tokens) int32."""
        # Each `fit`, `evaluate` and `predict` traces its preprocessing anew, but not a function.
        return self._encode(texts) if tf.executing_eagerly() else self._encode_traced(texts)

    def encode_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids and half-open character offsets, each (batch, tokens) int32."""
        marked = self._marks.mark(valid_utf8(texts))
        normalized, (ids, starts, ends) = self._split(marked)
        caller_lengths = self._marks.caller_lengths if self._marks else None
        starts, ends = to_character_offsets(
            marked, normalized, starts, ends, self._normalize, caller_lengths
        )
        return ids, starts, ends

    def encode_with_word_starts(
        self, texts: tf.Tensor, segmented: bool
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids, (batch, tokens) int32, and whether each starts a word, bool."""
        normalized, pieces = self._split(self._mark(texts))
        return pieces[0], self._word_starts(normalized, pieces, segmented)

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Return readable texts of ids, (batch, tokens) int32, as (batch,) string."""
        return join_word_pieces(tf.gather(self._entries, ids))

    @functools.cached_property
    def _word_starts(self) -> WordStarts:
        return WordStarts(self.vocabulary, self._unknown_id, self._split_on_cjk)

    def _encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        _, (ids, _, _) = self._split(self._mark(texts))
        return ids

    def _mark(self, texts: tf.Tensor) -> tf.Tensor:
        # Without marks the normaliser does with invalid bytes what has to be done.
        return self._marks.mark(valid_utf8(texts)) if self._marks else texts

    def _split(self, marked: tf.Tensor) -> tuple[tf.Tensor, Pieces]:
        """Return normalised texts and their pieces, whose offsets index them."""
        is_plain = are_plain(marked, self._max_characters_per_word)
        normalized = self._normalize(marked, is_plain)
        ids, starts, ends = self._pieces.tokenize_with_offsets(normalized, is_plain)
        if self._marks.placeholders:
            ids = ids.with_flat_values(tf.gather(self._final_ids, ids.flat_values))
        return normalized, (ids, starts, ends)

    def _normalize(self, marked: tf.Tensor, is_plain: tf.Tensor | None = None) -> tf.Tensor:
        return self._marks.expand(self._normalizer(marked, is_plain))
