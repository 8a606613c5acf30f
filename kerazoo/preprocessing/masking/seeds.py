"""Seeds of batches: new masks in every epoch, or the same ones."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from kerazoo.without_autograph import without_autograph

_SEEDS = 2**31 - 1


@without_autograph
def batch_seeds(seed: int, training: bool, first_batch: int = 0) -> tf.data.Dataset:
    """Return an endless dataset of stateless seeds, (2,) int32, one for each batch.

    Args:
        seed: int, decides about all of them.
        training: bool, give other seeds each time the dataset is iterated (the same sequence of
            epochs for the same `seed` and, if it is set, the same global seed of TensorFlow); else
            batch i gets `(seed, i)` every time.
        first_batch: int, the number of the first batch; only without `training`.

    Raises:
        ValueError: if `first_batch` is given for training.
    """
    if not training:
        number = tf.data.Dataset.counter(start=first_batch, dtype=tf.int64)
        return number.map(lambda i: tf.stack([seed % _SEEDS, tf.cast(i % _SEEDS, tf.int32)]))
    if first_batch:
        raise ValueError(
            "An iteration with new masks cannot begin in its middle; repeat the dataset and take "
            f"`training=False`, whose seeds count on. Received: first_batch={first_batch}"
        )
    drawn = tf.data.Dataset.random(seed=seed, rerandomize_each_iteration=True)
    return drawn.map(lambda value: tf.stack([seed % _SEEDS, tf.cast(value % _SEEDS, tf.int32)]))


def to_seed(seed: Any) -> tf.Tensor:
    """Return an int, or two, as a stateless seed, (2,) int32."""
    seed = tf.cast(tf.math.floormod(tf.cast(seed, tf.int64), _SEEDS), tf.int32)
    return tf.stack([seed, 0]) if seed.shape.rank == 0 else tf.ensure_shape(seed, [2])


def seed_of_texts(texts: Sequence[tf.Tensor], seed: int | None) -> tf.Tensor:
    """Return a stateless seed, (2,) int32, for a batch that was given none.

    Args:
        texts: one or two tensors, (batch,) string.
        seed: int, for a seed that depends on it and on the texts, so that a batch keeps its masks
            and no two batches share theirs; None for another one each time.
    """
    if seed is None:
        return tf.random.uniform([2], maxval=_SEEDS, dtype=tf.int32)
    joined = tf.strings.reduce_join(tf.concat(texts, axis=0), separator="\n")
    return tf.stack(
        [seed % _SEEDS, tf.cast(tf.strings.to_hash_bucket_fast(joined, _SEEDS), tf.int32)]
    )
