"""The head of extractive question answering: where an answer begins and where it ends."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import END_LOGITS, START_LOGITS, Initializer, Tensor

_LOWEST_SCORE = float(np.finfo("float32").min)


@keras.saving.register_keras_serializable(package="kerazoo")
class SpanHead(keras.layers.Layer):
    """W h + b with two outputs at each position; positions that hold no answer get no probability.

    Args:
        hidden_dim: int, width of the states.
        kernel_initializer: initializer of W.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        answer_mask: (batch, seq) int32 or bool, 1 where an answer may begin or end.

    Returns:
        dict of `start_logits` and `end_logits`, each (batch, seq) float32 under every dtype policy;
        the smallest float32 where the mask is 0.
    """

    def __init__(
        self, hidden_dim: int, kernel_initializer: Initializer = "glorot_uniform", **kwargs: Any
    ) -> None:
        """Create the dense layer."""
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.dense = keras.layers.Dense(
            2,
            kernel_initializer=keras.initializers.serialize(self.kernel_initializer),
            dtype=self.dtype_policy,
            name="dense",
        )

    def build(
        self,
        hidden_states_shape: tuple[int | None, ...],
        answer_mask_shape: tuple[int | None, ...],
    ) -> None:
        """Build the weights."""
        self.dense.build((None, None, self.hidden_dim))
        self.built = True

    def call(self, hidden_states: Tensor, answer_mask: Tensor) -> dict[str, Tensor]:
        """Compute the logits; see the class."""
        logits = ops.cast(self.dense(hidden_states), "float32")
        allowed = ops.cast(answer_mask, "bool")
        return {
            key: ops.where(allowed, logits[:, :, number], _LOWEST_SCORE)
            for number, key in enumerate((START_LOGITS, END_LOGITS))
        }

    def compute_output_spec(self, hidden_states: Tensor, answer_mask: Tensor) -> Any:
        """Return two outputs of (batch, seq) float32."""
        return {
            key: keras.KerasTensor(answer_mask.shape, dtype="float32")
            for key in (START_LOGITS, END_LOGITS)
        }

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
