"""One transformer block: self-attention, then the feed-forward network, each with a residual."""

from typing import Any

import keras

from kerazoo.axes import Initializer, Tensor
from kerazoo.checks import check_rate
from kerazoo.layers.attention import SelfAttention
from kerazoo.layers.feed_forward import FeedForward
from kerazoo.layers.rematerialized import rematerialized


@keras.saving.register_keras_serializable(package="kerazoo")
class TransformerBlock(keras.layers.Layer):
    """The block of BERT and GPT: self-attention and a feed-forward network, each with a residual.

    "Post-norm" is y = LN(x + attention(x)), then LN(y + feed_forward(y)), as in Vaswani et al. 2017
    (https://arxiv.org/abs/1706.03762), BERT (https://arxiv.org/abs/1810.04805) and GPT-1.
    "Pre-norm" is y = x + attention(LN(x)), then y + feed_forward(LN(y)), as in GPT-2 (Radford et
    al. 2019, section 2.3), whose backbone normalises once more after the last block.

    Attributes:
        rematerialize: bool, in training keep nothing for the gradient but the block's input, and
            compute the rest again. Not a part of the config.

    Args:
        num_heads: int, attention heads.
        hidden_dim: int, width of the states; a multiple of `num_heads`.
        intermediate_dim: int, width inside the feed-forward network.
        dropout: float, dropout rate on both sublayers' outputs.
        attention_dropout: float, dropout rate on the attention probabilities.
        activation: "gelu", "gelu_approximate" or "relu".
        layer_norm_epsilon: float, added to the variance in both layer norms.
        normalize_first: bool, pre-norm; False is post-norm.
        causal: bool, let a position see itself and earlier positions only.
        kernel_initializer: initializer of all kernels.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens; None if nothing is padded.
        return_attention_scores: bool, return the attention probabilities too.
        visible: bool, what each position may see; see `SelfAttention`.

    Returns:
        (batch, seq, hidden) float; with `return_attention_scores` also the probabilities,
        (batch, heads, query, key) float32.
    """

    rematerialize: bool = False

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        intermediate_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation: str = "gelu",
        layer_norm_epsilon: float = 1e-12,
        normalize_first: bool = False,
        causal: bool = False,
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
        self.normalize_first = normalize_first
        self.causal = causal
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        initializer = keras.initializers.serialize(self.kernel_initializer)
        self.attention = SelfAttention(
            num_heads,
            hidden_dim,
            dropout=attention_dropout,
            causal=causal,
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
        visible: Tensor | None = None,
    ) -> Tensor:
        """Apply the block; see the class."""
        if self.rematerialize and training and not return_attention_scores:
            return rematerialized(
                self,
                lambda states: self._transform(states, padding_mask, True, visible)[0],
                hidden_states,
                [self.attention.dropout_layer, self.dropout_layer, self.dropout_layer],
            )
        states, probabilities = self._transform(hidden_states, padding_mask, training, visible)
        return (states, probabilities) if return_attention_scores else states

    def _transform(
        self,
        hidden_states: Tensor,
        padding_mask: Tensor | None,
        training: bool | None,
        visible: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Return the states and the attention probabilities."""
        attended, probabilities = self.attention(
            self.attention_input(hidden_states),
            padding_mask=padding_mask,
            training=training,
            return_attention_scores=True,
            visible=visible,
        )
        return self.after_attention(hidden_states, attended, training=training), probabilities

    def attention_input(self, hidden_states: Tensor) -> Tensor:
        """Return what the attention reads, (batch, seq, hidden)."""
        return self.attention_layer_norm(hidden_states) if self.normalize_first else hidden_states

    def after_attention(
        self, hidden_states: Tensor, attended: Tensor, training: bool | None = None
    ) -> Tensor:
        """Return the block's output, given its input and what the attention gave.

        Args:
            hidden_states: (batch, seq, hidden) float, the block's input.
            attended: (batch, seq, hidden) float, the attention's output.
            training: bool, apply dropout.
        """
        attended = self.dropout_layer(attended, training=training)
        if self.normalize_first:
            hidden_states = hidden_states + attended
            transformed = self.feed_forward(self.feed_forward_layer_norm(hidden_states))
            return hidden_states + self.dropout_layer(transformed, training=training)
        hidden_states = self.attention_layer_norm(hidden_states + attended)
        transformed = self.dropout_layer(self.feed_forward(hidden_states), training=training)
        return self.feed_forward_layer_norm(hidden_states + transformed)

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
            "normalize_first": self.normalize_first,
            "causal": self.causal,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
