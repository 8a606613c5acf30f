"""Two ways to write into a cache of keys or values; which one depends on where the graph runs."""

from collections.abc import Callable
from typing import TypeAlias

from keras import ops

from kerazoo.axes import Tensor

KeyValueCache: TypeAlias = list[tuple[Tensor, Tensor]]
"""For each layer the keys and the values, (batch, heads, slots, head) float."""

CacheWriter: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Takes a cache, what is new and the slot to write it to; returns the new cache."""


def write_slice(cache: Tensor, new: Tensor, slot: Tensor) -> Tensor:
    """Write one position, in place where the compiler can.

    Args:
        cache: (batch, heads, slots, head) float.
        new: (batch, heads, 1, head) float.
        slot: () int32.
    """
    return ops.slice_update(cache, (0, 0, slot, 0), new)


def write_where(cache: Tensor, new: Tensor, slot: Tensor) -> Tensor:
    """Write one position with core ops alone: TensorFlow's `slice_update` is an XLA op.

    Args:
        cache: (batch, heads, slots, head) float.
        new: (batch, heads, 1, head) float.
        slot: () int32.
    """
    slots = ops.arange(ops.shape(cache)[2], dtype="int32")[None, None, :, None]
    return ops.where(slots == slot, new, cache)
