"""The chosen positions of each row in a fixed number of slots."""

import tensorflow as tf


def fill_slots(
    is_chosen: tf.Tensor, chosen: tf.Tensor, slots: int | tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Write the chosen positions of each row side by side, in ascending order.

    Args:
        is_chosen: (batch, seq) bool, at most `slots` in a row.
        chosen: (chosen, 2) int64, `tf.where(is_chosen)`.
        slots: int or (), int64, slots of a row.

    Returns:
        The positions, (batch, slots) int32 with 0 in unused slots, and which slots are used,
        (batch, slots) bool.
    """
    counts = tf.math.count_nonzero(is_chosen, axis=1)
    row, position = chosen[:, 0], chosen[:, 1]
    before = tf.gather(tf.cumsum(counts, exclusive=True), row)
    slot = tf.range(tf.size(row, out_type=tf.int64)) - before
    shape = tf.stack([tf.size(counts, out_type=tf.int64), slots])
    positions = tf.scatter_nd(tf.stack([row, slot], axis=1), tf.cast(position, tf.int32), shape)
    if isinstance(slots, int):
        positions = tf.ensure_shape(positions, [None, slots])
    return positions, tf.sequence_mask(counts, slots)
