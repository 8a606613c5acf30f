"""Random numbers for some rows of a batch, which are those of the same rows in the whole batch."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class BatchPart:
    """Which rows of a batch are at hand.

    A stateless number depends on its place in the tensor that is drawn, so numbers are drawn for
    all rows of the batch, which is cheap, and those of other rows are thrown away.

    Args:
        begin: int, the first row.
        rows: int, rows of the whole batch; None if all of them are at hand.
    """

    begin: int = 0
    rows: int | None = None

    def uniform(self, shape: Sequence[Any], seed: tf.Tensor, **options: Any) -> tf.Tensor:
        """Return what `tf.random.stateless_uniform` draws for these rows.

        Args:
            shape: of the rows at hand; a row stands along the first axis.
            seed: (2,) int32.
            **options: see `tf.random.stateless_uniform`.

        Returns:
            A tensor of that shape.
        """
        here, *inside = shape
        if self.rows is None:
            return tf.random.stateless_uniform(tf.stack([here, *inside]), seed, **options)
        drawn = tf.random.stateless_uniform(tf.stack([self.rows, *inside]), seed, **options)
        return drawn[self.begin : self.begin + here]


WHOLE = BatchPart()
"""All rows of a batch."""
