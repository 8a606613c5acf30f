"""From token ids of texts to the dense, padded inputs of a backbone."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Self

import tensorflow as tf

from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TOKEN_IDS
from kerazoo.checks import check_positive


@dataclasses.dataclass(frozen=True)
class PackingTemplate:
    """Which special tokens stand where: `start a separator b end`.

    BERT: `[CLS] a [SEP] b [SEP]`, so separator and end are the same token. GPT: `<s> a $ b <e>`.
    """

    start_id: int
    separator_id: int
    end_id: int
    pad_id: int

    @classmethod
    def from_tokenizer(cls, tokenizer: Any) -> Self:
        """Read the special ids of a tokenizer.

        Raises:
            ValueError: if it has none; the message says how to get one that has.
        """
        return cls(*tokenizer.template_token_ids)


@dataclasses.dataclass(frozen=True)
class Part:
    """One text of every packed row, before it is cut.

    Args:
        flat_ids: (ids,) int32, the token ids of all texts one after another.
        starts: (rows,) int32, where in `flat_ids` each row's text begins.
        lengths: (rows,) int32, how many tokens it has.
        closed: (rows,) bool, whether a special token closes it.
        segment: int, its segment id.
    """

    flat_ids: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor
    closed: tf.Tensor
    segment: int = 0

    @classmethod
    def from_ragged(cls, ids: tf.RaggedTensor, segment: int = 0) -> Self:
        """Return the part of texts that are all closed; `ids` is (rows, tokens) int32."""
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        starts = tf.cast(ids.row_starts(), tf.int32)
        flat_ids = tf.cast(ids.flat_values, tf.int32)
        return cls(flat_ids, starts, lengths, tf.ones_like(lengths, tf.bool), segment)

    def rows(self, rows: slice, segment: int = 0) -> Self:
        """Return the part of some of the rows, with another segment id; the ids are not copied."""
        chosen = {name: getattr(self, name)[rows] for name in ("starts", "lengths", "closed")}
        return dataclasses.replace(self, **chosen, segment=segment)

    def repeated(self, times: int | tf.Tensor) -> Self:
        """Return the part with each row `times` times in succession; the ids are not copied."""
        rows = {
            name: tf.repeat(getattr(self, name), times) for name in ("starts", "lengths", "closed")
        }
        return dataclasses.replace(self, **rows)


def truncate_longest_first(
    lengths: Sequence[tf.Tensor], budget: int | tf.Tensor
) -> list[tf.Tensor]:
    """Shorten one or two texts to `budget` tokens together, always cutting the longer one.

    Equal to `truncation=True` of Hugging Face's `tokenizers`: the shorter text is kept whole as
    long as it fits into half of the budget; of an odd budget the second text gets the extra token
    if both are as long, else the longer one gets it.

    Args:
        lengths: one or two tensors, (batch,) int32: tokens of each text, no special tokens.
        budget: int, or (batch,) int32: tokens left for the texts.

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


def truncate_first(lengths: Sequence[tf.Tensor], budget: int | tf.Tensor) -> list[tf.Tensor]:
    """Shorten texts to `budget` tokens together, cutting the first one alone.

    Only where nothing of the first is left and the other two are still too long, the longer one of
    them is cut, so that the closing tokens survive in any case.

    Args:
        lengths: three tensors, (batch,) int32: tokens of each text, no special tokens.
        budget: int, or (batch,) int32: tokens left for the texts.

    Returns:
        Three tensors, (batch,) int32: how many tokens to keep.
    """
    first, *others = lengths
    others = truncate_longest_first(others, budget)
    return [tf.minimum(first, budget - tf.add_n(others)), *others]


def pack(
    segments: Sequence[tf.RaggedTensor],
    template: PackingTemplate,
    sequence_length: int,
    pad_to_multiple_of: int | None = None,
) -> dict[str, tf.Tensor]:
    """Join the token ids of a text, or a pair, with special tokens and pad to one width.

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
    check_room(sequence_length, specials)
    if len(segments) == 1:
        return _pack_single(segments[0], template, sequence_length, pad_to_multiple_of)
    parts = [Part.from_ragged(segment, number) for number, segment in enumerate(segments)]
    lengths = [part.lengths for part in parts]
    kept = truncate_longest_first(lengths, sequence_length - specials)
    return pack_parts(parts, kept, template, sequence_length, pad_to_multiple_of)


def pack_parts(
    parts: Sequence[Part],
    kept: Sequence[tf.Tensor],
    template: PackingTemplate,
    sequence_length: int,
    pad_to_multiple_of: int | None = None,
) -> dict[str, tf.Tensor]:
    """Lay out the parts of each row behind the start token and pad to one width.

    Args:
        parts: the texts of a row, in order; the last one is closed in every row, by the end token,
            the others by the separator.
        kept: for each part how many tokens of it stay, (rows,) int32.
        template: the special tokens.
        sequence_length: int, the most positions a row may have; `kept` observes it.
        pad_to_multiple_of: as for `pack`.

    Returns:
        dict of `token_ids`, `segment_ids` and `padding_mask`, each (rows, width) int32.
    """
    closings = [tf.cast(part.closed, tf.int32) for part in parts]
    totals = tf.add_n([*kept, *closings]) + 1
    positions = tf.range(_width(totals, sequence_length, pad_to_multiple_of))[tf.newaxis, :]

    token_ids = tf.where(positions == 0, template.start_id, template.pad_id)
    token_ids = tf.repeat(token_ids, tf.shape(totals)[0], axis=0)
    segment_ids = tf.zeros_like(token_ids)
    begin = tf.ones_like(totals)
    for number, (part, count, closing) in enumerate(zip(parts, kept, closings, strict=True)):
        within = positions - begin[:, tf.newaxis]
        inside = (within >= 0) & (within < count[:, tf.newaxis])
        token_ids = tf.where(inside, _gather(part, within, inside), token_ids)
        closes = (within == count[:, tf.newaxis]) & part.closed[:, tf.newaxis]
        mark = template.end_id if number + 1 == len(parts) else template.separator_id
        token_ids = tf.where(closes, mark, token_ids)
        segment_ids = tf.where(inside | closes, part.segment, segment_ids)
        begin = begin + count + closing
    padding_mask = tf.cast(positions < totals[:, tf.newaxis], tf.int32)
    return {TOKEN_IDS: token_ids, SEGMENT_IDS: segment_ids, PADDING_MASK: padding_mask}


def check_room(sequence_length: int, specials: int) -> None:
    """Raise ValueError unless a token has room beside the special tokens."""
    check_positive("sequence_length", sequence_length)
    if sequence_length <= specials:
        raise ValueError(
            f"`sequence_length` must leave room beside {specials} special tokens. "
            f"Received: sequence_length={sequence_length}"
        )


def _pack_single(
    ids: tf.RaggedTensor,
    template: PackingTemplate,
    sequence_length: int,
    pad_to_multiple_of: int | None,
) -> dict[str, tf.Tensor]:
    """Return what `pack_parts` does for rows of one text, at a third of its cost."""
    kept = tf.minimum(tf.cast(ids.row_lengths(), tf.int32), sequence_length - 2)
    totals = kept + 2
    width = _width(totals, sequence_length, pad_to_multiple_of)
    shape = tf.stack([-1, width - 1]) if tf.is_tensor(width) else [None, width - 1]
    behind_start = tf.cast(ids, tf.int32).to_tensor(template.pad_id, shape=shape)
    is_end = tf.range(width - 1) == kept[:, tf.newaxis]
    behind_start = tf.where(is_end, template.end_id, behind_start)
    token_ids = tf.pad(behind_start, [[0, 0], [1, 0]], constant_values=template.start_id)
    padding_mask = tf.sequence_mask(totals, width, tf.int32)
    return {
        TOKEN_IDS: token_ids,
        SEGMENT_IDS: tf.zeros_like(token_ids),
        PADDING_MASK: padding_mask,
    }


def _width(
    totals: tf.Tensor, sequence_length: int, pad_to_multiple_of: int | None
) -> int | tf.Tensor:
    if pad_to_multiple_of is None:
        return sequence_length
    # The appended 1 keeps the maximum defined for a batch of zero.
    longest = tf.reduce_max(tf.concat([totals, [1]], axis=0))
    rounded = -(-longest // pad_to_multiple_of) * pad_to_multiple_of
    return tf.minimum(rounded, sequence_length)


def _gather(part: Part, within: tf.Tensor, inside: tf.Tensor) -> tf.Tensor:
    """Return the ids at positions `within` of each row; anything where not `inside`."""
    # One more id, so that index 0 exists when every text of the batch is empty.
    flat_ids = tf.concat([part.flat_ids, [0]], axis=0)
    return tf.gather(flat_ids, tf.where(inside, part.starts[:, tf.newaxis] + within, 0))
