"""An order of rows in which batches have rows of one bucket, for example of similar length."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf


def order_by_bucket(
    order: tf.Tensor,
    buckets: tf.Tensor,
    batch_size: int,
    seed: Sequence[Any],
    begun: int | tf.Tensor = 0,
) -> tf.Tensor:
    """Return a random order of rows again, sorted into batches that come in a random order.

    Where the rows of a bucket do not come out even, a batch is filled up from the next larger one,
    so there are no more batches than without buckets. Rows that make no whole batch are of the
    largest bucket and come first, where a batch is begun already, and last.

    Args:
        order: (rows,) int32, rows in a random order.
        buckets: (rows,) int32, the bucket of each row, by its number.
        batch_size: int, rows of a batch.
        seed: two ints, decide about the order of the batches.
        begun: () int32, rows that the batch has into which the first rows go.

    Returns:
        (rows,) int32.
    """
    order = tf.gather(order, tf.argsort(tf.gather(buckets, order), stable=True))
    rows = tf.size(order)
    first = tf.minimum(-begun % batch_size, rows)
    whole = (rows - first) // batch_size * batch_size
    batches = tf.reshape(order[:whole], [-1, batch_size])
    seed = tf.stack([tf.cast(number, tf.int64) for number in seed])
    batches = tf.random.experimental.stateless_shuffle(batches, seed)
    rest = order[whole:]
    return tf.concat([rest[:first], tf.reshape(batches, [-1]), rest[first:]], axis=0)
