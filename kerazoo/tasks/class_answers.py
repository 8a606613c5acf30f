"""What a classifier answers: labels and probabilities, in Python and in a served graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return probabilities, (rows, classes), for logits."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def class_answers(probabilities: np.ndarray, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each row a dict of "label", "score" and "probabilities".

    Args:
        probabilities: (rows, classes) float.
        labels: the label names in the order of the classes.
    """
    return [
        {
            "label": labels[int(np.argmax(row))],
            "score": float(np.max(row)),
            "probabilities": dict(zip(labels, map(float, row), strict=True)),
        }
        for row in probabilities
    ]


def served_class_answers(probabilities: tf.Tensor, labels: Sequence[str]) -> dict[str, tf.Tensor]:
    """Return the outputs of a signature.

    Args:
        probabilities: (batch, classes) float32.
        labels: the label names in the order of the classes.

    Returns:
        dict of "label" (batch,) string, "score" (batch,) float32, "probabilities" and "labels",
        each (batch, classes).
    """
    names = tf.constant(list(labels))
    every_row = tf.zeros_like(probabilities, dtype=tf.int32) + tf.range(len(labels))
    return {
        "label": tf.gather(names, tf.argmax(probabilities, axis=-1)),
        "score": tf.reduce_max(probabilities, axis=-1),
        "probabilities": probabilities,
        "labels": tf.gather(names, every_row),
    }
