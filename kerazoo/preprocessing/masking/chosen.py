"""The chosen tokens of a batch: where they stand, and their values side by side in slots."""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The chosen tokens of all rows, in ascending order.

    Args:
        positions: (chosen,) int64, counted over all rows: row × seq + position.
        numbers: (chosen,) int32, above 0: tokens of a row that were chosen as one n-gram have the
            same.
    """

    positions: tf.Tensor
    numbers: tf.Tensor

    def mask(self, batch: tf.Tensor) -> tf.Tensor:
        """Return what was chosen of a batch, (batch, seq), as (batch, seq) bool."""
        chosen = tf.scatter_nd(
            self.positions[:, tf.newaxis],
            tf.ones_like(self.positions, tf.int32),
            [tf.size(batch, out_type=tf.int64)],
        )
        return tf.reshape(chosen > 0, tf.shape(batch))

    def gather(self, batch: tf.Tensor) -> tf.Tensor:
        """Return the values of chosen tokens in a batch: (batch, seq) -> (chosen,)."""
        return tf.gather(tf.reshape(batch, [-1]), self.positions)

    def replace(self, batch: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Return a batch, (batch, seq), with other values, (chosen,), for the chosen tokens."""
        flat = tf.reshape(batch, [-1])
        flat = tf.tensor_scatter_nd_update(flat, self.positions[:, tf.newaxis], values)
        return tf.reshape(flat, tf.shape(batch))

    def in_rows(self, batch: tf.Tensor) -> "ChosenRows":
        """Return the chosen tokens row by row; `batch`, (batch, seq), says how long a row is."""
        rows, width = tf.unstack(tf.shape(batch, tf.int64))
        row_starts = tf.range(rows + 1) * width
        row_splits = tf.searchsorted(self.positions, row_starts, out_type=tf.int64)
        return ChosenRows(tf.math.floormod(self.positions, width), row_splits)


@dataclasses.dataclass(frozen=True)
class ChosenRows:
    """The chosen tokens of each row.

    Args:
        positions: (chosen,) int64, positions in the row.
        row_splits: (batch + 1,) int64, where the chosen tokens of each row begin.
    """

    positions: tf.Tensor
    row_splits: tf.Tensor

    def in_slots(self, values: tf.Tensor, slots: int | None, unused: int = 0) -> tf.Tensor:
        """Return the values of each row side by side.

        Args:
            values: (chosen,).
            slots: int, slots of a row; None for as many as the fullest row needs.
            unused: the value of unused slots.

        Returns:
            (batch, slots), in the dtype of `values`.
        """
        rows = tf.RaggedTensor.from_row_splits(values, self.row_splits, validate=False)
        return rows.to_tensor(unused, shape=[None, slots])

    def weights(self, slots: int | None) -> tf.Tensor:
        """Return 1 for used slots and 0 for the others, (batch, slots) float32."""
        counts = self.row_splits[1:] - self.row_splits[:-1]
        return tf.sequence_mask(counts, slots, tf.float32)
