"""Overlapping windows over long documents, and the window in which a token is most central."""

import dataclasses

import tensorflow as tf

from kerazoo.checks import check_positive
from kerazoo.preprocessing.packing import Part


@dataclasses.dataclass(frozen=True)
class Windows:
    """The windows of a batch of documents, document by document, from front to back.

    Each is cut out of the tokens of one document; a document without tokens has one empty window.
    All but the last of a document are full.

    Args:
        document: (windows,) int32, the document of each, in ascending order.
        first: (windows,) int32, the token of the document with which it begins.
        length: (windows,) int32, how many tokens it has.
        document_length: (windows,) int32, how many its document has.
        width: (windows,) int32, the most tokens that it might have.
        stride: (windows,) int32, how many tokens after it the next one begins.
    """

    document: tf.Tensor
    first: tf.Tensor
    length: tf.Tensor
    document_length: tf.Tensor
    width: tf.Tensor
    stride: tf.Tensor

    def part(self, ids: tf.RaggedTensor, segment: int = 0) -> Part:
        """Return the windows as the text of packed rows, one row each; nothing is copied.

        Args:
            ids: (documents, tokens) int32.
            segment: int, the segment id.
        """
        return Part(
            flat_ids=tf.cast(ids.flat_values, tf.int32),
            starts=self._starts(ids),
            lengths=self.length,
            closed=tf.ones_like(self.length, tf.bool),
            segment=segment,
        )

    def cut(self, values: tf.RaggedTensor, width: int | tf.Tensor, default: int = 0) -> tf.Tensor:
        """Return what each window sees of values that stand beside the tokens.

        Args:
            values: (documents, tokens), for example offsets.
            width: int, columns of the result, at least the longest window.
            default: what stands behind the end of a window.

        Returns:
            (windows, width), in the dtype of `values`.
        """
        positions = tf.range(width)[tf.newaxis, :]
        inside = self.inside(width)
        # One value more, so that index 0 exists where no document has a token.
        flat = tf.concat([values.flat_values, tf.zeros([1], values.dtype)], axis=0)
        index = tf.where(inside, self._starts(values)[:, tf.newaxis] + positions, 0)
        return tf.where(inside, tf.gather(flat, index), tf.cast(default, values.dtype))

    def inside(self, width: int | tf.Tensor) -> tf.Tensor:
        """Return which of the first `width` positions hold a token, (windows, width) bool."""
        return tf.range(width)[tf.newaxis, :] < self.length[:, tf.newaxis]

    def owners(self, width: int | tf.Tensor) -> tf.Tensor:
        """Return which tokens each window owns: every token belongs to exactly one window.

        Args:
            width: int, columns of the result.

        Returns:
            (windows, width) bool, True on the tokens for which no other window is more central.
        """
        positions = tf.range(width)[tf.newaxis, :]
        return self.inside(width) & self.is_most_central(positions, positions)

    def is_most_central(self, first_token: tf.Tensor, last_token: tf.Tensor) -> tf.Tensor:
        """Return which spans have the most context here: no other window sees more of it.

        The context of a span in a window is the smaller of the numbers of tokens before and after
        it. From window to window it rises and then falls, so the neighbours decide; of two equal
        ones the first is taken.

        Args:
            first_token: (windows, spans) int32, positions in the window.
            last_token: (windows, spans) int32, positions in the window, not before the first.

        Returns:
            (windows, spans) bool. It means something for spans inside of their window.
        """
        first, length, stride = (
            value[:, tf.newaxis] for value in (self.first, self.length, self.stride)
        )
        own_last, width = length - 1, self.width[:, tf.newaxis]
        context = tf.minimum(first_token, own_last - last_token)
        # The window before is full; of the one after the document may cut the end off.
        before = tf.minimum(first_token + stride, width - 1 - stride - last_token)
        document_last = self.document_length[:, tf.newaxis] - 1 - first
        after_last = tf.minimum(stride + width - 1, document_last)
        after = tf.minimum(first_token - stride, after_last - last_token)
        has_before, has_after = first > 0, own_last < document_last
        return ~(has_before & (before >= context)) & ~(has_after & (after > context))

    def _starts(self, values: tf.RaggedTensor) -> tf.Tensor:
        """Return where in the flat values each window begins."""
        return tf.gather(tf.cast(values.row_starts(), tf.int32), self.document) + self.first


def windows_of(lengths: tf.Tensor, width: int | tf.Tensor, stride: int | tf.Tensor) -> Windows:
    """Cover documents with windows that overlap.

    The windows of a document begin at tokens 0, `stride`, 2 × `stride`, … until one reaches its
    end.

    Args:
        lengths: (documents,) int, the tokens of each document.
        width: int, or (documents,) int32: the most tokens of a window.
        stride: int, or (documents,) int32: how many tokens after a window the next one begins.

    Raises:
        ValueError: if width or stride is a number that is not above zero, or the stride leaves
            gaps between the windows.
    """
    if isinstance(width, int) and isinstance(stride, int):
        check_stride(stride, width)
    lengths = tf.cast(lengths, tf.int32)
    widths = tf.broadcast_to(tf.cast(width, tf.int32), tf.shape(lengths))
    strides = tf.broadcast_to(tf.cast(stride, tf.int32), tf.shape(lengths))
    rest = tf.maximum(lengths - widths, 0)
    counts = 1 - (-rest // strides)
    document = tf.repeat(tf.range(tf.size(lengths)), counts)
    number = tf.range(tf.size(document)) - tf.gather(tf.cumsum(counts, exclusive=True), document)
    document_length, width_of, stride_of = (
        tf.gather(values, document) for values in (lengths, widths, strides)
    )
    first = number * stride_of
    return Windows(
        document=document,
        first=first,
        length=tf.minimum(document_length - first, width_of),
        document_length=document_length,
        width=width_of,
        stride=stride_of,
    )


def check_stride(stride: int, width: int) -> None:
    """Raise ValueError if windows of `width` tokens, `stride` apart, leave gaps between them."""
    check_positive("width", width)
    check_positive("stride", stride)
    if stride > width:
        raise ValueError(
            f"Windows hold {width} tokens, so a stride beyond that leaves tokens between them that "
            f"no window reads; make it smaller. Received: stride={stride}"
        )
