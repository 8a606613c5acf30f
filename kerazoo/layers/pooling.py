"""One vector for a whole text."""

from typing import Any

import keras
from keras import ops

from kerazoo.axes import Initializer, Tensor


@keras.saving.register_keras_serializable(package="kerazoo")
class FirstTokenPooler(keras.layers.Layer):
    """BERT's pooler: tanh(W h₀ + b) on the state of the first token, `[CLS]`.

    Args:
        hidden_dim: int, width of the states.
        kernel_initializer: initializer of W.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.

    Returns:
        (batch, hidden) float.
    """

    def __init__(
        self, hidden_dim: int, kernel_initializer: Initializer = "glorot_uniform", **kwargs: Any
    ) -> None:
        """Create the dense layer."""
        super().__init__(**kwargs)
        self.hidden_dim = hidden_dim
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.dense = keras.layers.Dense(
            hidden_dim,
            activation="tanh",
            kernel_initializer=keras.initializers.serialize(self.kernel_initializer),
            dtype=self.dtype_policy,
            name="dense",
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build the kernel."""
        self.dense.build((None, self.hidden_dim))
        self.built = True

    def call(self, hidden_states: Tensor) -> Tensor:
        """Pool; see the class."""
        return self.dense(hidden_states[:, 0, :])

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return (batch, hidden)."""
        return (input_shape[0], self.hidden_dim)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }


@keras.saving.register_keras_serializable(package="kerazoo")
class MeanPooler(keras.layers.Layer):
    """The mean of the states of all real tokens, special tokens included.

    What sentence encoders such as MiniLM were trained with (Reimers & Gurevych 2019,
    https://arxiv.org/abs/1908.10084). The sum runs in float32 under every dtype policy; a row that
    is all padding gives zeros.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens.

    Returns:
        (batch, hidden) float.
    """

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build nothing: there are no weights."""
        self.built = True

    def call(self, hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
        """Pool; see the class."""
        weights = ops.cast(padding_mask, "float32")[:, :, None]
        total = ops.sum(ops.cast(hidden_states, "float32") * weights, axis=1)
        count = ops.maximum(ops.sum(weights, axis=1), 1.0)
        return ops.cast(total / count, self.compute_dtype)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return (batch, hidden)."""
        return (input_shape[0], input_shape[-1])


@keras.saving.register_keras_serializable(package="kerazoo")
class LastTokenPooler(keras.layers.Layer):
    """The state of the last real token, which has read the whole text in a causal model.

    How GPT reads a text out (Radford et al. 2018, section 3.2). A row that is all padding gives
    its first state.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens.

    Returns:
        (batch, hidden) float.
    """

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build nothing: there are no weights."""
        self.built = True

    def call(self, hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
        """Pool; see the class."""
        mask = ops.cast(padding_mask, "int32")
        last = ops.max(mask * ops.arange(ops.shape(mask)[1], dtype="int32")[None, :], axis=1)
        return ops.squeeze(ops.take_along_axis(hidden_states, last[:, None, None], axis=1), axis=1)

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return (batch, hidden)."""
        return (input_shape[0], input_shape[-1])
