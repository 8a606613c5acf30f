"""Rows in a random order that is decided by a seed and one number: where to begin."""

from collections import defaultdict
from collections.abc import Callable

import tensorflow as tf

from kerazoo.data.bucket_order import order_by_bucket
from kerazoo.data.row_source import RowSource
from kerazoo.without_autograph import without_autograph

Buckets = Callable[[tf.Tensor], tf.Tensor]
"""Gives the buckets of rows: (rows,) string -> (rows,) int32."""


@without_autograph
def shuffled_batches(
    source: RowSource,
    batch_size: int,
    seed: int,
    first_batch: int = 0,
    buckets: Buckets | None = None,
) -> tf.data.Dataset:
    """Return endless batches of rows, all of one size, each epoch in an order of its own.

    Every row comes once an epoch; a batch in which an epoch ends is filled up by the next one. The
    rows of a group are shuffled together by a stateless seed, so batch `n` is the same whether the
    dataset begins with it or not, and only the rows of two groups are in memory.

    Args:
        source: where the rows come from.
        batch_size: int, rows of a batch.
        seed: int, decides about the order.
        first_batch: int, the number of the first batch.
        buckets: makes batches of rows of one bucket, as far as a group has them; see
            `order_by_bucket`. None mixes all rows.

    Returns:
        A dataset of (batch,) string.
    """
    first_group, position = _group_of_row(source, first_batch * batch_size)

    def shuffled(
        begun: tf.Tensor, group: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        number, rows = group
        order = _order(tf.size(rows), seed, number)
        if buckets is not None:
            order = order_by_bucket(order, buckets(rows), batch_size, (-1 - seed, number), begun)
        begin = tf.where(number == first_group, position, 0)
        return (begun + tf.size(rows)) % batch_size, tf.gather(rows, order[begin:])

    with tf.device("CPU:0"):
        # The rows that a batch has already when a group begins.
        begun = tf.constant(-position % batch_size)
        rows = source.groups(first_group).scan(begun, shuffled).prefetch(1)
        return rows.rebatch(batch_size, drop_remainder=True)


def rows_of_batch(
    source: RowSource, batch_size: int, seed: int, number: int, buckets: Buckets | None = None
) -> list[str]:
    """Return where the rows of a batch stand, for a message.

    Args:
        source: where the rows come from.
        batch_size: int, rows of a batch.
        seed: int, decides about the order.
        number: int, of the batch, from 0.
        buckets: what `shuffled_batches` got; then the rows of the groups are read.
    """
    groups = len(source.group_sizes(0))
    group, position = _group_of_row(source, number * batch_size)
    found: dict[str, list[int]] = defaultdict(list)
    missing = batch_size
    while missing:
        epoch, part = divmod(group, groups)
        size = source.group_sizes(epoch)[part]
        order = _order(size, seed, tf.constant(group, tf.int64))
        if buckets is not None and size:
            (_, rows), *_ = source.groups(group).take(1)
            begun = (batch_size - missing - position) % batch_size
            order = order_by_bucket(order, buckets(rows), batch_size, (-1 - seed, group), begun)
        for row in order[position:][:missing].numpy().tolist():
            name, place = source.place(group, row)
            found[name].append(place)
            missing -= 1
        group, position = group + 1, 0
    return [f"rows {', '.join(map(str, sorted(rows)))} of {name}" for name, rows in found.items()]


def _order(rows: int | tf.Tensor, seed: int, group: tf.Tensor) -> tf.Tensor:
    """Return the order of the rows of a group, (rows,) int32."""
    return tf.random.experimental.stateless_shuffle(tf.range(rows), [seed, group])


def _group_of_row(source: RowSource, row: int) -> tuple[int, int]:
    """Return the number of the group with a row, counted through all epochs, and its place there.

    Args:
        source: where the rows come from.
        row: int, the row's number, counted through all epochs.
    """
    epoch, place = divmod(row, source.training_rows)
    sizes = source.group_sizes(epoch)
    group = 0
    while place >= sizes[group]:
        place -= sizes[group]
        group += 1
    return epoch * len(sizes) + group, place
