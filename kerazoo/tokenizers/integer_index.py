"""Where an integer stands in a fixed set, in the graph and without a lookup table resource."""

import numpy as np
import tensorflow as tf

# Odd, so that multiplying by them modulo 2 ** 64 loses nothing. The first is 2 ** 64 divided by the
# golden ratio; the others are there for sets on which it spreads badly.
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB)
_MAX_BUCKET_BITS = 18


class IntegerIndex:
    """A read-only hash table of int64 keys made of constants.

    Keys are multiplied by an odd constant and sorted; the product's upper bits are the bucket, and
    the few keys of a bucket are compared one by one. That takes a third of a binary search's time.

    Args:
        keys: (n,) int64, all different; n may be 0.
    """

    def __init__(self, keys: np.ndarray) -> None:
        """Choose the multiplier with the smallest fullest bucket and sort the keys by bucket."""
        bits = min(max(int(np.ceil(np.log2(max(len(keys), 1)))) + 1, 1), _MAX_BUCKET_BITS)
        candidates = [_sorted_by_bucket(keys, multiplier, bits) for multiplier in _MULTIPLIERS]
        products, order, bucket_starts, multiplier = min(
            candidates, key=lambda candidate: int(np.diff(candidate[2]).max())
        )
        self._fullest = max(int(np.diff(bucket_starts).max()), 1)
        self._multiplier = int(np.uint64(multiplier).astype(np.int64))
        self._shift = 64 - bits
        self._first_bucket = -(1 << (bits - 1))
        # Probing may run past the end, where the last key stands again.
        last = (products[-1], order[-1]) if len(keys) else (0, -1)
        with tf.init_scope():
            self._products = tf.constant(np.append(products, [last[0]] * self._fullest))
            self._positions = tf.constant(np.append(order, [last[1]] * self._fullest), tf.int32)
            self._bucket_starts = tf.constant(bucket_starts[:-1].astype(np.int32))

    def find(self, keys: tf.Tensor) -> tf.Tensor:
        """Return the position of each key in the constructor's `keys`.

        Args:
            keys: any shape, int64.

        Returns:
            The same shape, int32; -1 for what is not in the set.
        """
        products = keys * tf.constant(self._multiplier, tf.int64)
        bucket = tf.bitwise.right_shift(products, tf.constant(self._shift, tf.int64))
        slot = tf.gather(self._bucket_starts, tf.cast(bucket, tf.int32) - self._first_bucket)
        slots = slot[..., tf.newaxis] + tf.range(self._fullest)
        is_it = tf.gather(self._products, slots) == products[..., tf.newaxis]
        return tf.reduce_max(tf.where(is_it, tf.gather(self._positions, slots), -1), axis=-1)


def _sorted_by_bucket(
    keys: np.ndarray, multiplier: int, bits: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return sorted products, the key of each, the start of each bucket, and the multiplier."""
    with np.errstate(over="ignore"):
        products = keys.astype(np.int64) * np.uint64(multiplier).astype(np.int64)
    order = np.argsort(products, kind="stable")
    products = products[order]
    first_products = np.arange(-(1 << (bits - 1)), 1 << (bits - 1), dtype=np.int64) << (64 - bits)
    bucket_starts = np.append(np.searchsorted(products, first_products), len(keys))
    return products, order, bucket_starts, multiplier
