"""Datasets that are left at once, without tf.data's autotuning."""

from typing import Any

import tensorflow as tf

from kerazoo.tasks.shared_batches import SharedBatches


def untuned(data: Any) -> Any:
    """Turn tf.data's autotuning off, unless the dataset says of itself whether it is tuned.

    The thread that tunes an iterator sleeps for 10 ms, then each time twice as long, up to a
    minute. Whoever leaves the iterator waits for it, as the call that shall wake it is often lost:
    so every other `fit`, `evaluate` and `predict` took up to twice its time on TensorFlow 2.21.

    Args:
        data: a dataset or `SharedBatches`; anything else passes through.
    """
    if isinstance(data, SharedBatches):
        return data.mapped(untuned)
    if not isinstance(data, tf.data.Dataset) or data.options().autotune.enabled is not None:
        return data
    options = tf.data.Options()
    options.autotune.enabled = False
    return data.with_options(options)
