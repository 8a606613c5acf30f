"""One transformer block: self-attention, then the feed-forward network, each with a residual."""

from typing import Any

import keras

from kerazoo.axes import Initializer, Tensor
from kerazoo.checks import check_rate
from kerazoo.layers.attention import SelfAttention
from kerazoo.layers.feed_forward import FeedForward


@keras.saving.register_keras_serializable(package="kerazoo")
class TransformerBlock(keras.layers.Layer):
    """The encoder block of BERT: y = LN(x + attention(x)), then LN(y + feed_forward(y)).

    "Post-norm", as in Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762) and Devlin et al. 2018
    (https://arxiv.org/abs/1810.04805).

    Args:
        num_heads: int, attention heads.
        hidden_dim: int, width of the states; a multiple of `num_heads`.
        intermediate_dim: int, width inside the feed-forward network.
        dropout: float, dropout rate on both sublayers' outputs.
        attention_dropout: float, dropout rate on the attention probabilities.
        activation: "gelu", "gelu_approximate" or "relu".
        layer_norm_epsilon: float, added to the variance in both layer norms.
        kernel_initializer: initializer of all kernels.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens; None if nothing is padded.
        return_attention_scores: bool, return the attention probabilities too.

    Returns:
        (batch, seq, hidden) float; with `return_attention_scores` also the probabilities,
        (batch, heads, query, key) float32.
    """

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        intermediate_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_epsilon: float = 1e-12,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        """Create the sublayers."""
        super().__init__(**kwargs)
        check_rate("dropout", dropout)
        self.num_heads = num_heads
        self.hidden_dim = hidden_dim
        self.intermediate_dim = intermediate_dim
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.activation = activation
        self.layer_norm_epsilon = layer_norm_epsilon
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        initializer = keras.initializers.serialize(self.kernel_initializer)
        self.attention = SelfAttention(
            num_heads,
            hidden_dim,
            dropout=attention_dropout,
            kernel_initializer=initializer,
            dtype=self.dtype_policy,
            name="attention",
        )
        self.attention_layer_norm = self._layer_norm("attention_layer_norm")
        self.feed_forward = FeedForward(
            hidden_dim,
            intermediate_dim,
            activation=activation,
            kernel_initializer=initializer,
            dtype=self.dtype_policy,
            name="feed_forward",
        )
        self.feed_forward_layer_norm = self._layer_norm("feed_forward_layer_norm")
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.supports_masking = True

    def _layer_norm(self, name: str) -> keras.layers.LayerNormalization:
        return keras.layers.LayerNormalization(
            epsilon=self.layer_norm_epsilon, dtype=self.dtype_policy, name=name
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build the sublayers for states of width `hidden_dim`."""
        shape = (None, None, self.hidden_dim)
        for layer in (
            self.attention,
            self.attention_layer_norm,
            self.feed_forward,
            self.feed_forward_layer_norm,
        ):
            layer.build(shape)
        self.built = True

    def call(
        self,
        hidden_states: Tensor,
        padding_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
    ) -> Tensor:
        """Apply the block; see the class."""
        attended, probabilities = self.attention(
            hidden_states,
            padding_mask=padding_mask,
            training=training,
            return_attention_scores=True,
        )
        attended = self.dropout_layer(attended, training=training)
        hidden_states = self.attention_layer_norm(hidden_states + attended)
        transformed = self.dropout_layer(self.feed_forward(hidden_states), training=training)
        hidden_states = self.feed_forward_layer_norm(hidden_states + transformed)
        return (hidden_states, probabilities) if return_attention_scores else hidden_states

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return the shape of the states, which stays as it was."""
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "hidden_dim": self.hidden_dim,
            "intermediate_dim": self.intermediate_dim,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": self.activation,
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
