"""Several texts for each row of a batch: to the shape that a backbone reads, and back."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import Tensor

_LOWEST_SCORE = float(np.finfo("float32").min)


@keras.saving.register_keras_serializable(package="kerazoo")
class MergeTexts(keras.layers.Layer):
    """Put the texts of all rows one under another.

    Call arguments:
        inputs: (batch, texts, …), for example ids or a mask, (batch, texts, seq) int32.

    Returns:
        (batch · texts, …).
    """

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build nothing: there are no weights."""
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Merge; see the class."""
        return ops.reshape(inputs, (-1, *ops.shape(inputs)[2:]))

    def compute_output_spec(self, inputs: Tensor) -> keras.KerasTensor:
        """Return (batch · texts, …) in the dtype of `inputs`."""
        return keras.KerasTensor((None, *inputs.shape[2:]), dtype=inputs.dtype)


@keras.saving.register_keras_serializable(package="kerazoo")
class SplitTexts(keras.layers.Layer):
    """Put the texts of a row side by side again: the inverse of `MergeTexts`.

    Call arguments:
        states: (batch · texts, hidden) float.
        like: (batch, texts, …), which says how many texts a row has.

    Returns:
        (batch, texts, hidden) float.
    """

    def build(
        self, states_shape: tuple[int | None, ...], like_shape: tuple[int | None, ...]
    ) -> None:
        """Build nothing: there are no weights."""
        self.built = True

    def call(self, states: Tensor, like: Tensor) -> Tensor:
        """Split; see the class."""
        return ops.reshape(states, (*ops.shape(like)[:2], states.shape[-1]))

    def compute_output_shape(
        self, states_shape: tuple[int | None, ...], like_shape: tuple[int | None, ...]
    ) -> tuple[int | None, ...]:
        """Return (batch, texts, hidden)."""
        return (*like_shape[:2], states_shape[-1])


@keras.saving.register_keras_serializable(package="kerazoo")
class MaskPadding(keras.layers.Layer):
    """Give the smallest float32 as score to texts that are padding alone.

    So that a softmax over the texts of a row gives them 0, and their gradient is 0.

    Call arguments:
        scores: (batch, texts) float.
        padding_mask: (batch, texts, seq) int32 or bool, 1 on real tokens.

    Returns:
        (batch, texts) float32.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Create the layer; it computes in float32 under every policy."""
        super().__init__(**{**kwargs, "dtype": "float32"})

    def build(
        self, scores_shape: tuple[int | None, ...], padding_mask_shape: tuple[int | None, ...]
    ) -> None:
        """Build nothing: there are no weights."""
        self.built = True

    def call(self, scores: Tensor, padding_mask: Tensor) -> Tensor:
        """Mask; see the class."""
        is_text = ops.any(ops.cast(padding_mask, "bool"), axis=-1)
        return ops.where(is_text, ops.cast(scores, "float32"), _LOWEST_SCORE)

    def compute_output_shape(
        self, scores_shape: tuple[int | None, ...], padding_mask_shape: tuple[int | None, ...]
    ) -> tuple[int | None, ...]:
        """Return (batch, texts)."""
        return scores_shape
