"""Texts with [MASK] in them, as a caller writes them, to the inputs of a masked language model."""

import dataclasses
from typing import Any

import tensorflow as tf

from kerazoo.axes import MASK_POSITIONS
from kerazoo.preprocessing.masking.masker import check_has_mask_token
from kerazoo.preprocessing.packing import PackingTemplate, check_room, pack
from kerazoo.tokenizers.texts import to_text_tensor

_SPECIALS = 2  # [CLS] before a text, [SEP] behind it


@dataclasses.dataclass(frozen=True)
class MaskedTexts:
    """Texts and the masks in them, the first ones of each text in a fixed number of slots.

    Args:
        texts: (batch,) string, valid UTF-8.
        features: `token_ids`, `segment_ids`, `padding_mask`, each (batch, seq) int32, and
            `mask_positions`, (batch, masks) int32, 0 on unused slots.
        is_used: (batch, masks) bool; False on slots without a mask that the model reads.
        starts: (batch, masks) int32, the character of the text at which each mask begins; on unused
            slots the text's length.
        ends: (batch, masks) int32, likewise the character behind it.
        counts: (batch,) int32, all masks of each text.
    """

    texts: tf.Tensor
    features: dict[str, tf.Tensor]
    is_used: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    counts: tf.Tensor


class MaskReader:
    """Tokenises and packs single texts; the mask token in them is one token, no other special is.

    Args:
        tokenizer: a `WordPieceTokenizer`.
        sequence_length: int, the most positions of a row; longer texts are cut.

    Attributes:
        mask_token: str, what stands for a word to fill in.

    Raises:
        ValueError: if the tokenizer has no mask token.
    """

    def __init__(self, tokenizer: Any, sequence_length: int) -> None:
        """Make a tokenizer that reads the mask token in texts."""
        check_has_mask_token(tokenizer)
        check_room(sequence_length, _SPECIALS)
        self.mask_token: str = tokenizer.mask_token
        self._tokenizer = _reading(tokenizer, self.mask_token)
        self._mask_id = tokenizer.mask_token_id
        self._template = PackingTemplate.from_tokenizer(tokenizer)
        self._sequence_length = sequence_length

    def read(
        self, texts: Any, masks: int | None = None, pad_to_multiple_of: int | None = None
    ) -> MaskedTexts:
        """Read a batch of texts.

        Args:
            texts: (batch,) string.
            masks: int, slots for masks; None is as many as the text with most masks has, rounded
                up to a multiple of 8, and needs eager tensors.
            pad_to_multiple_of: as for `kerazoo.preprocessing.packing.pack`.
        """
        texts = to_text_tensor(texts)
        ids, starts, ends = self._tokenizer.tokenize_with_offsets(texts)
        features = pack([ids], self._template, self._sequence_length, pad_to_multiple_of)
        is_mask = ids == self._mask_id
        counts = tf.reduce_sum(tf.cast(is_mask, tf.int32), axis=1)
        if masks is None:
            masks = -(-max([8, *counts.numpy().tolist()]) // 8) * 8

        def slots(values: tf.RaggedTensor) -> tf.Tensor:
            chosen = tf.cast(tf.ragged.boolean_mask(values, is_mask), tf.int32)
            return chosen.to_tensor(default_value=-1, shape=(None, masks))

        index = slots(tf.ragged.range(ids.row_lengths()))
        is_used = (index >= 0) & (index < self._sequence_length - _SPECIALS)
        features[MASK_POSITIONS] = tf.where(is_used, index + 1, 0)
        length = tf.strings.length(texts, unit="UTF8_CHAR")[:, tf.newaxis]
        return MaskedTexts(
            texts=texts,
            features=features,
            is_used=is_used,
            starts=tf.where(is_used, slots(starts), length),
            ends=tf.where(is_used, slots(ends), length),
            counts=counts,
        )


def _reading(tokenizer: Any, mask_token: str) -> Any:
    """Return a tokenizer that reads the mask token in texts, beside what it reads already."""
    if tokenizer.special_tokens_in_strings:
        return tokenizer
    config = {**tokenizer.get_config(), "special_tokens_in_strings": [mask_token]}
    reading = type(tokenizer).from_config(config)
    reading.set_vocabulary(tokenizer.get_vocabulary())
    return reading
