"""From token ids of one or two texts to the dense, padded inputs of a backbone."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TOKEN_IDS
from kerazoo.checks import check_positive


@dataclasses.dataclass(frozen=True)
class PackingTemplate:
    """Which special tokens stand where: `start a separator b end`.

    BERT: `[CLS] a [SEP] b [SEP]`, so separator and end are the same token.
    """

    start_id: int
    separator_id: int
    end_id: int
    pad_id: int

    @classmethod
    def from_tokenizer(cls, tokenizer: Any) -> "PackingTemplate":
        """Read the special ids of a tokenizer with `cls`, `sep` and `pad` tokens."""
        return cls(
            start_id=tokenizer.cls_token_id,
            separator_id=tokenizer.sep_token_id,
            end_id=tokenizer.sep_token_id,
            pad_id=tokenizer.pad_token_id,
        )


def truncate_longest_first(lengths: Sequence[tf.Tensor], budget: int) -> list[tf.Tensor]:
    """Shorten one or two texts to `budget` tokens together, always cutting the longer one.

    Equal to `truncation=True` of Hugging Face's `tokenizers`: the shorter text is kept whole as
    long as it fits into half of the budget; of an odd budget the second text gets the extra token
    if both are as long, else the longer one gets it.

    Args:
        lengths: one or two tensors, (batch,) int32: tokens of each text, no special tokens.
        budget: int, tokens left for the texts.

    Returns:
        As many tensors, (batch,) int32: how many tokens to keep.
    """
    if len(lengths) == 1:
        return [tf.minimum(lengths[0], budget)]
    first, second = lengths
    shorter, longer = tf.minimum(first, second), tf.maximum(first, second)
    half = budget // 2
    longer = tf.minimum(longer, tf.maximum(budget - half, budget - shorter))
    shorter = tf.minimum(shorter, half)
    first_is_longer = first > second
    return [
        tf.where(first_is_longer, longer, shorter),
        tf.where(first_is_longer, shorter, longer),
    ]


def pack(
    segments: Sequence[tf.RaggedTensor],
    template: PackingTemplate,
    sequence_length: int,
    pad_to_multiple_of: int | None = None,
) -> dict[str, tf.Tensor]:
    """Join token ids with special tokens and pad to one width.

    Args:
        segments: one or two ragged tensors of token ids, (batch, None) int32.
        template: the special tokens.
        sequence_length: int, the most positions a row may have; longer rows are truncated,
            longest text first, and keep their last special token.
        pad_to_multiple_of: int, pad only to the longest row of the batch, rounded up to a multiple
            of this number; None pads to `sequence_length`, which keeps the shape static.

    Returns:
        dict of `token_ids`, `segment_ids` and `padding_mask`, each (batch, width) int32.

    Raises:
        ValueError: if `sequence_length` has no room for a single token.
    """
    specials = len(segments) + 1
    check_positive("sequence_length", sequence_length)
    if sequence_length <= specials:
        raise ValueError(
            f"`sequence_length` must leave room beside {specials} special tokens. "
            f"Received: sequence_length={sequence_length}"
        )
    lengths = [tf.cast(segment.row_lengths(), tf.int32) for segment in segments]
    kept = truncate_longest_first(lengths, sequence_length - specials)
    totals = tf.add_n(kept) + specials
    positions = tf.range(_width(totals, sequence_length, pad_to_multiple_of))[tf.newaxis, :]

    token_ids = tf.where(positions == 0, template.start_id, template.pad_id)
    token_ids = tf.repeat(token_ids, tf.shape(totals)[0], axis=0)
    segment_ids = tf.zeros_like(token_ids)
    begin = tf.ones_like(totals)
    for number, (segment, count) in enumerate(zip(segments, kept, strict=True)):
        within = positions - begin[:, tf.newaxis]
        inside = (within >= 0) & (within < count[:, tf.newaxis])
        token_ids = tf.where(inside, _gather(segment, within, inside), token_ids)
        closing = template.end_id if number + 1 == len(segments) else template.separator_id
        token_ids = tf.where(within == count[:, tf.newaxis], closing, token_ids)
        covered = (within >= 0) & (within <= count[:, tf.newaxis])
        segment_ids = tf.where(covered, number, segment_ids)
        begin = begin + count + 1
    padding_mask = tf.cast(positions < totals[:, tf.newaxis], tf.int32)
    return {TOKEN_IDS: token_ids, SEGMENT_IDS: segment_ids, PADDING_MASK: padding_mask}


def _width(
    totals: tf.Tensor, sequence_length: int, pad_to_multiple_of: int | None
) -> int | tf.Tensor:
    if pad_to_multiple_of is None:
        return sequence_length
    # The appended 1 keeps the maximum defined for a batch of zero.
    longest = tf.reduce_max(tf.concat([totals, [1]], axis=0))
    rounded = -(-longest // pad_to_multiple_of) * pad_to_multiple_of
    return tf.minimum(rounded, sequence_length)


def _gather(segment: tf.RaggedTensor, within: tf.Tensor, inside: tf.Tensor) -> tf.Tensor:
    """Return the ids at positions `within` of each row; anything where not `inside`."""
    starts = tf.cast(segment.row_starts(), tf.int32)[:, tf.newaxis]
    # One more id, so that index 0 exists when every text of the batch is empty.
    flat = tf.concat([tf.cast(segment.flat_values, tf.int32), [0]], axis=0)
    return tf.gather(flat, tf.where(inside, starts + within, 0))
