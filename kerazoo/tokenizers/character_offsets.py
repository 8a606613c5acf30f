"""Offsets into normalised text, mapped back to characters of the caller's text."""

from collections.abc import Callable

import tensorflow as tf

from kerazoo.tokenizers.running_total import running_total
from kerazoo.tokenizers.token_rows import row_of_each_token

# Combining marks, joiners and emoji tags: when normalisation deletes them, they still belong to the
# character before them.
_EXTENDING = r"[\p{M}\x{200c}\x{200d}\x{2060}\x{e0020}-\x{e007f}]"


def to_character_offsets(
    texts: tf.Tensor,
    normalized: tf.Tensor,
    starts: tf.RaggedTensor,
    ends: tf.RaggedTensor,
    normalize: Callable[[tf.Tensor], tf.Tensor],
    caller_lengths: Callable[[tf.Tensor], tf.Tensor] | None = None,
) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
    """Map byte offsets in normalised texts to character offsets in the caller's texts.

    In a text of ASCII characters of which none was deleted, bytes are characters. Only the other
    texts are mapped.

    Args:
        texts: (batch,) string, valid UTF-8.
        normalized: (batch,) string, `normalize(texts)`.
        starts: (batch, tokens) int64, first byte of each token in the normalised text.
        ends: (batch, tokens) int64, byte after its last one.
        normalize: the function that normalised the texts, each character on its own.
        caller_lengths: maps code points, (n,) int32, to the number of characters that each stands
            for in the caller's text, (n,) int64; one each if None.

    Returns:
        Half-open (starts, ends), both (batch, tokens) int32.
    """
    byte_count = tf.strings.length(texts)
    is_mapped = (byte_count != tf.strings.length(texts, unit="UTF8_CHAR")) | (
        byte_count != tf.strings.length(normalized)
    )
    rows = tf.where(is_mapped)[:, 0]
    mapped = _map_every_row(
        tf.gather(texts, rows),
        tf.gather(starts, rows),
        tf.gather(ends, rows),
        normalize,
        caller_lengths,
    )
    tokens = tf.where(tf.gather(is_mapped, row_of_each_token(starts)))
    new_starts = tf.tensor_scatter_nd_update(starts.flat_values, tokens, mapped[0])
    new_ends = tf.tensor_scatter_nd_update(ends.flat_values, tokens, mapped[1])
    return (
        starts.with_flat_values(tf.cast(new_starts, tf.int32)),
        ends.with_flat_values(tf.cast(new_ends, tf.int32)),
    )


def _map_every_row(
    texts: tf.Tensor,
    starts: tf.RaggedTensor,
    ends: tf.RaggedTensor,
    normalize: Callable[[tf.Tensor], tf.Tensor],
    caller_lengths: Callable[[tf.Tensor], tf.Tensor] | None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the mapped offsets of all tokens, (tokens,) int64.

    The normalised length of each character (computed once for each different character of the
    batch) says where it lies in the normalised text; a sorted search finds the character in which
    a token starts or ends. A token also covers deleted combining marks and joiners after it.
    """
    code_points = tf.strings.unicode_decode(texts, "UTF-8")
    different, index = tf.unique(code_points.flat_values)
    characters = tf.strings.unicode_encode(different[:, tf.newaxis], "UTF-8")
    byte_lengths = tf.strings.length(normalize(characters))
    is_extending = (byte_lengths == 0) & tf.strings.regex_full_match(characters, _EXTENDING)

    # Running totals over the characters of all rows, from 0.
    normalized = running_total(tf.gather(tf.cast(byte_lengths, tf.int64), index))
    row = row_of_each_token(starts)
    row_start = tf.gather(code_points.row_splits, row)
    row_byte = tf.gather(normalized, row_start)
    first = _character_at(normalized, row_byte + starts.flat_values)
    last = _character_at(normalized, row_byte + ends.flat_values - 1)
    after = tf.cond(
        tf.reduce_any(is_extending),
        lambda: tf.minimum(
            _next_head(tf.gather(is_extending, index), last),
            tf.gather(code_points.row_splits, row + 1),
        ),
        lambda: last + 1,
    )
    if caller_lengths is None:
        return first - row_start, after - row_start
    original = running_total(tf.gather(caller_lengths(different), index))
    row_original = tf.gather(original, row_start)
    return tf.gather(original, first) - row_original, tf.gather(original, after) - row_original


def _character_at(normalized: tf.Tensor, byte: tf.Tensor) -> tf.Tensor:
    """Return the character that holds each byte; deleted ones hold none."""
    return tf.searchsorted(normalized[1:], byte, side="right", out_type=tf.int64)


def _next_head(is_extending: tf.Tensor, position: tf.Tensor) -> tf.Tensor:
    """Return for each position the next one that does not extend it (the count if none)."""
    heads = tf.where(~is_extending)[:, 0]
    after = tf.searchsorted(heads, position, side="right", out_type=tf.int64)
    count = tf.size(is_extending, out_type=tf.int64)
    return tf.gather(tf.concat([heads, count[tf.newaxis]], axis=0), after)
