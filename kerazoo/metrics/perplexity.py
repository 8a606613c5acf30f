"""Perplexity: how many tokens a language model hesitates between, on average."""

from typing import Any

import keras
from keras import ops

from kerazoo.axes import Tensor


@keras.saving.register_keras_serializable(package="kerazoo")
class Perplexity(keras.metrics.Mean):
    """exp(mean cross-entropy over all real tokens), in float32.

    The mean runs over tokens of all batches together, weighted by `sample_weight`, which is 0 on
    padding; the mean of the batches' perplexities would be another number.

    Args:
        name: str.
        **kwargs: `dtype`.
    """

    def __init__(self, name: str = "perplexity", **kwargs: Any) -> None:
        """Create the two sums."""
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor = None) -> None:
        """Add a batch.

        Args:
            y_true: (batch, seq) int, the targets.
            y_pred: (batch, seq, vocabulary) float, logits.
            sample_weight: (batch, seq) float; None is 1 everywhere.
        """
        loss = keras.losses.sparse_categorical_crossentropy(
            y_true, ops.cast(y_pred, "float32"), from_logits=True
        )
        super().update_state(loss, sample_weight=sample_weight)

    def result(self) -> Tensor:
        """Return the perplexity of all batches so far."""
        return ops.exp(super().result())
