"""Positions of a row that count, gathered to its front."""

from keras import ops

from kerazoo.axes import Tensor


def gathered_to_front(mask: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
    """Move the positions that count to the front of each row, in their order.

    Args:
        mask: (batch, seq) int, float or bool; a position counts if it is not 0.
        *values: (batch, seq) or (batch, seq, n).

    Returns:
        The mask, (batch, seq) bool, True at the front, and the values; behind the front stand those
        of the other positions.
    """
    counts = ops.cast(mask, "bool")
    width = ops.shape(counts)[1]
    position = ops.arange(width, dtype="int32")[None, :]
    order = ops.argsort(ops.where(counts, position, position + width), axis=1)
    moved = [
        ops.take_along_axis(value, order if len(value.shape) == 2 else order[:, :, None], axis=1)
        for value in values
    ]
    lengths = ops.sum(ops.cast(counts, "int32"), axis=1, keepdims=True)
    return position < lengths, *moved
