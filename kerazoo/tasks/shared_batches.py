"""Batches of which each process of several prepares the rows that it computes, and no others."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

Rows = tuple[int, int]
"""The first row of a batch that is wanted, and the one behind the last."""


@dataclasses.dataclass(frozen=True)
class SharedBatches:
    """Endless batches of one size, which can be made row by row.

    `fit` of a task takes them as a dataset.

    Args:
        size: int, rows of every batch.
        make: returns a dataset of the given rows of each batch; None is all rows. The rows must not
            depend on which others are wanted.
    """

    size: int
    make: Callable[[Rows | None], tf.data.Dataset]

    def whole(self) -> tf.data.Dataset:
        """Return the batches."""
        return self.make(None)

    def own(self, rows: Rows) -> tf.data.Dataset:
        """Return some rows of each batch."""
        return self.whole() if rows == (0, self.size) else self.make(rows)

    def mapped(self, change: Callable[[tf.data.Dataset], tf.data.Dataset]) -> "SharedBatches":
        """Return what a change of each dataset, row by row, makes of the batches."""
        return SharedBatches(self.size, lambda rows: change(self.make(rows)))

    def bounds(self, parts: int) -> list[int]:
        """Return where each part of a batch begins, and the end: the first ones have a row more."""
        return [-(-number * self.size // parts) for number in range(parts + 1)]
