"""How one row of a shard lies in its record, and how a batch of records becomes tensors.

A record is a row of little-endian words of `id_type`:

    tokens, start of the second text, next-sentence label, masks,
    positions of the masks (slots), ids under the masks (slots),
    one word a token: its id, with the highest usable bit set where a word starts

Only static masks have slots. What lies behind the last token is not stored. All words have fixed
places, so that a whole batch is parsed by one operation.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import (
    MASK_IDS,
    MASK_POSITIONS,
    MASK_WEIGHTS,
    NEXT_SENTENCE_LABEL,
    PADDING_MASK,
    SEGMENT_IDS,
    TOKEN_IDS,
    WORD_STARTS,
)
from kerazoo.data.objectives import BERT, GPT
from kerazoo.without_autograph import without_autograph

_HEADER = 4
# Type of a word: the bit that marks the start of a word. TensorFlow decodes no uint32.
_WORD_START_BITS = {"uint16": 1 << 15, "int32": 1 << 30}


@dataclasses.dataclass(frozen=True)
class RowFormat:
    """What a record holds.

    Args:
        objective: "bert", "bert-mlm" or "gpt".
        row_length: int, the most tokens of a row.
        vocabulary_size: int.
        pad_token_id: int, the id that fills up short rows.
        mask_slots: int, masks that a row can hold; 0 if masks are drawn later.
        border_token_id: int, the id with which each text of a row begins, for "gpt" the one with
            which it ends; None if a row is one text.
    """

    objective: str
    row_length: int
    vocabulary_size: int
    pad_token_id: int
    mask_slots: int = 0
    border_token_id: int | None = None

    @property
    def is_packed(self) -> bool:
        """Whether the texts of a row are numbered, so that they do not see each other."""
        return self.border_token_id is not None

    @property
    def has_word_starts(self) -> bool:
        """Whether rows know where words start."""
        return self.objective != GPT

    @functools.cached_property
    def id_type(self) -> str:
        """Type of a word: "uint16" if ids and the word-start bit fit, else "int32"."""
        limit = _WORD_START_BITS["uint16"] if self.has_word_starts else 1 << 16
        return "uint16" if max(self.vocabulary_size, self.row_length + 1) <= limit else "int32"

    @functools.cached_property
    def word_start_bit(self) -> int:
        """The bit of a token's word that says that a word starts there."""
        return _WORD_START_BITS[self.id_type]

    @property
    def words(self) -> int:
        """Words of the longest record."""
        return _HEADER + 2 * self.mask_slots + self.row_length

    def token_words(self, ids: np.ndarray, word_starts: np.ndarray | None) -> np.ndarray:
        """Return the words of tokens.

        Args:
            ids: (tokens,) ints.
            word_starts: (tokens,) bool; None if rows do not know where words start.

        Returns:
            (tokens,) of `id_type`.
        """
        if word_starts is not None:
            ids = np.where(word_starts, ids | self.word_start_bit, ids)
        return ids.astype(self.id_type)

    def encode(
        self,
        token_words: np.ndarray,
        second_start: int | None = None,
        label: int = 0,
        mask_positions: Sequence[int] = (),
        mask_ids: Sequence[int] = (),
    ) -> bytes:
        """Return the record of a row.

        Args:
            token_words: (tokens,) from `token_words`, special tokens included.
            second_start: int, position of the second text's first token; None if there is none.
            label: int, 1 if the second text comes from elsewhere.
            mask_positions: positions of static masks, ascending.
            mask_ids: the ids that stood there.
        """
        count, slots = len(token_words), self.mask_slots
        row = np.zeros(_HEADER + 2 * slots + count, np.dtype(self.id_type).newbyteorder("<"))
        second_start = count if second_start is None else second_start
        row[:_HEADER] = count, second_start, label, len(mask_positions)
        row[_HEADER : _HEADER + len(mask_positions)] = mask_positions
        row[_HEADER + slots : _HEADER + slots + len(mask_ids)] = mask_ids
        row[_HEADER + 2 * slots :] = token_words
        return row.tobytes()

    def token_counts(self, serialized: tf.Tensor) -> tf.Tensor:
        """Return the tokens of each record, (batch,) int32.

        Args:
            serialized: (batch,) string.
        """
        size = np.dtype(self.id_type).itemsize
        first = tf.io.decode_raw(tf.strings.substr(serialized, 0, size), self.id_type)
        return tf.cast(first[:, 0], tf.int32)

    @without_autograph
    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Return the rows of records, padded to `row_length`.

        Args:
            serialized: (batch,) string.

        Returns:
            `token_ids` and `padding_mask`, (batch, seq) int32; the mask of packed rows holds the
            number of the text, 1, 2, … and 0 on padding. For "bert" and "bert-mlm" also
            `segment_ids`, (batch, seq) int32, and `word_starts`, (batch, seq) bool; for "bert"
            `next_sentence_label`, (batch,) int32. With static masks also `mask_positions` and
            `mask_ids`, (batch, masks) int32, and `mask_weights`, (batch, masks) float32.
        """
        size = np.dtype(self.id_type).itemsize
        words = tf.io.decode_raw(serialized, self.id_type, fixed_length=self.words * size)
        words = tf.ensure_shape(words, (None, self.words))
        first = _HEADER + 2 * self.mask_slots
        header = tf.cast(words[:, :first], tf.int32)
        words = tf.cast(words[:, first:], tf.int32)
        positions = tf.range(self.row_length)[tf.newaxis, :]
        is_real = positions < header[:, 0:1]
        rows: dict[str, Any] = {}
        ids = words
        if self.has_word_starts:
            rows[WORD_STARTS] = words >= self.word_start_bit
            ids = tf.bitwise.bitwise_and(words, self.word_start_bit - 1)
            is_second = is_real & (positions >= header[:, 1:2])
            rows[SEGMENT_IDS] = tf.cast(is_second, tf.int32)
        rows[PADDING_MASK] = tf.cast(is_real, tf.int32) * self._text_numbers(ids)
        rows[TOKEN_IDS] = (
            ids if self.pad_token_id == 0 else tf.where(is_real, ids, self.pad_token_id)
        )
        if self.objective == BERT:
            rows[NEXT_SENTENCE_LABEL] = header[:, 2]
        return rows | (self._masks(header) if self.mask_slots else {})

    def _text_numbers(self, ids: tf.Tensor) -> tf.Tensor | int:
        """Return the number of the text of each token, (batch, seq) int32, or 1 for all."""
        if self.border_token_id is None:
            return 1
        is_border = tf.cast(ids == self.border_token_id, tf.int32)
        if self.objective == GPT:
            return 1 + tf.cumsum(is_border, axis=1, exclusive=True)
        return tf.cumsum(is_border, axis=1)

    def _masks(self, header: tf.Tensor) -> dict[str, Any]:
        slots = self.mask_slots
        is_used = tf.range(slots)[tf.newaxis, :] < header[:, 3:4]
        ids = header[:, _HEADER + slots :]
        return {
            MASK_POSITIONS: header[:, _HEADER : _HEADER + slots],
            MASK_IDS: tf.where(is_used, ids, self.pad_token_id),
            MASK_WEIGHTS: tf.cast(is_used, tf.float32),
        }
