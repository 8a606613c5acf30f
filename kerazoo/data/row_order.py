"""Rows in memory in a random order that is decided by a seed and one number: where to begin."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.data.bucket_order import order_by_bucket
from kerazoo.without_autograph import without_autograph

_ENDLESS = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class RowOrder:
    """An order of rows for each epoch, of which each batch is decided by the seed and its number.

    The last batch of an epoch is smaller where the rows do not come out even.

    With buckets, batches are made of rows of one bucket; see `order_by_bucket`.

    Args:
        seed: int, decides about the order.
        first_batch: int, the number of the batch to begin with, counted through all epochs.
        buckets: (rows,) int, the bucket of each row, for example by its length; None for one.
    """

    seed: int
    first_batch: int = 0
    buckets: np.ndarray | None = dataclasses.field(default=None, repr=False, compare=False)

    @without_autograph
    def batches(self, columns: Any, batch_size: int) -> tf.data.Dataset:
        """Return the endless batches from the first one on; batches before it are not made.

        Args:
            columns: a structure of tensors, (rows, …).
            batch_size: int, rows of a batch.
        """
        rows = row_count(columns)
        first_epoch, done = divmod(self.first_batch, steps_of_epoch(rows, batch_size))

        def of_epoch(epoch: tf.Tensor) -> tf.data.Dataset:
            begin = tf.where(epoch == first_epoch, done * batch_size, 0)
            order = self._order(rows, epoch, batch_size)[begin:]
            return tf.data.Dataset.from_tensor_slices(order).batch(batch_size)

        with tf.device("CPU:0"):
            numbers = tf.data.Dataset.range(first_epoch, _ENDLESS).flat_map(of_epoch)
            columns = tf.nest.map_structure(_to_tensor, columns)
            return numbers.map(
                lambda rows: tf.nest.map_structure(lambda column: tf.gather(column, rows), columns)
            )

    def rows_of_batch(self, number: int, rows: int, batch_size: int) -> list[int]:
        """Return which rows a batch has.

        Args:
            number: int, of the batch, counted through all epochs from 0.
            rows: int, how many there are.
            batch_size: int, rows of a batch.
        """
        epoch, batch = divmod(number, steps_of_epoch(rows, batch_size))
        order = self._order(rows, tf.constant(epoch, tf.int64), batch_size)
        chosen: list[int] = order[batch * batch_size :][:batch_size].numpy().tolist()
        return chosen

    def _order(self, rows: int, epoch: tf.Tensor, batch_size: int) -> tf.Tensor:
        seed = tf.stack([tf.constant(self.seed, tf.int64), epoch])
        order = tf.random.experimental.stateless_shuffle(tf.range(rows), seed)
        if self.buckets is None:
            return order
        buckets = tf.constant(self.buckets, tf.int32)
        # Seeds are not negative, so this one is no other epoch's.
        return order_by_bucket(order, buckets, batch_size, (-1 - self.seed, epoch))


def row_count(columns: Any) -> int:
    """Return how many rows a structure of tensors has."""
    return int(tf.nest.flatten(columns)[0].shape[0])


def steps_of_epoch(rows: int, batch_size: int) -> int:
    """Return the batches of an epoch."""
    return -(-rows // batch_size)


def _to_tensor(column: Any) -> Any:
    return column if isinstance(column, tf.RaggedTensor) else tf.convert_to_tensor(column)
