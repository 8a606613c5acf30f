"""One vector for a whole text."""

from typing import Any

import keras

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
