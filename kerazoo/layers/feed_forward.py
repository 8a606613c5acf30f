"""The position-wise feed-forward network of a transformer block."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from kerazoo.axes import Initializer, Tensor
from kerazoo.checks import check_one_of, check_positive

ACTIVATIONS = ("gelu", "gelu_approximate", "relu")


def get_activation(name: str) -> Callable[[Tensor], Tensor]:
    """Return the activation function called `name`.

    Args:
        name: "gelu", the exact one, x Φ(x); "gelu_approximate", its tanh form
            (Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415); or "relu".

    Raises:
        ValueError: for any other name.
    """
    check_one_of("activation", name, ACTIVATIONS)
    if name == "relu":
        return keras.activations.relu
    approximate = name == "gelu_approximate"

    def gelu(x: Tensor) -> Tensor:
        return keras.activations.gelu(x, approximate=approximate)

    return gelu


@keras.saving.register_keras_serializable(package="kerazoo")
class FeedForward(keras.layers.Layer):
    """Two dense layers with an activation between them, applied at every position.

    The positions are flattened to one axis first: TensorFlow fuses matrix product, bias and GELU
    on the CPU only at rank 2.

    Args:
        hidden_dim: int, width of the states in and out.
        intermediate_dim: int, width between the two layers.
        activation: "gelu", "gelu_approximate" or "relu".
        kernel_initializer: initializer of the two kernels.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.

    Returns:
        (batch, seq, hidden) float.
    """

    def __init__(
        self,
        hidden_dim: int,
        intermediate_dim: int,
        activation: str = "gelu",
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        """Create the two dense layers."""
        super().__init__(**kwargs)
        check_positive("hidden_dim", hidden_dim)
        check_positive("intermediate_dim", intermediate_dim)
        self.hidden_dim = hidden_dim
        self.intermediate_dim = intermediate_dim
        self.activation = activation
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        initializer = keras.initializers.serialize(self.kernel_initializer)
        self.intermediate = keras.layers.Dense(
            intermediate_dim,
            activation=get_activation(activation),
            kernel_initializer=initializer,
            dtype=self.dtype_policy,
            name="intermediate",
        )
        self.feed_forward_output = keras.layers.Dense(
            hidden_dim,
            kernel_initializer=initializer,
            dtype=self.dtype_policy,
            name="feed_forward_output",
        )
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build both kernels."""
        self.intermediate.build((None, self.hidden_dim))
        self.feed_forward_output.build((None, self.intermediate_dim))
        self.built = True

    def call(self, hidden_states: Tensor) -> Tensor:
        """Transform each position; see the class."""
        batch, length = ops.shape(hidden_states)[:2]
        flat = ops.reshape(hidden_states, (-1, self.hidden_dim))
        output = self.feed_forward_output(self.intermediate(flat))
        return ops.reshape(output, (batch, length, self.hidden_dim))

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return the shape of the states, which stays as it was."""
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "hidden_dim": self.hidden_dim,
            "intermediate_dim": self.intermediate_dim,
            "activation": self.activation,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
