"""Multi-head self-attention (Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, 3.2)."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import Initializer, Tensor
from kerazoo.checks import check_divisible, check_positive, check_rate

_MASKED_SCORE = float(np.finfo("float32").min)


@keras.saving.register_keras_serializable(package="kerazoo")
class SelfAttention(keras.layers.Layer):
    """Self-attention with a padding mask, in both directions or only backwards.

    softmax(Q Kᵀ / √head) V for each head, then one dense layer over the joined heads. The softmax
    runs in float32 under every dtype policy. What must not be seen (padding, and with `causal`
    every later position) gets the smallest float32 as its score, so a row that is all padding
    still gives finite numbers.

    Args:
        num_heads: int, number of heads.
        hidden_dim: int, width of the states; a multiple of `num_heads`.
        dropout: float, dropout rate on the attention probabilities.
        causal: bool, let a position see itself and earlier positions only.
        kernel_initializer: initializer of the four kernels.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens; None if nothing is padded.
        return_attention_scores: bool, return the probabilities too.
        visible: bool, broadcast to (batch, heads, query, key), what may be seen; None is what
            `padding_mask` and `causal` say.

    Returns:
        (batch, seq, hidden) float; with `return_attention_scores` also the probabilities,
        (batch, heads, query, key) float32, before dropout.

    Raises:
        ValueError: if `hidden_dim` is no multiple of `num_heads`, or `dropout` is no rate.
    """

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        dropout: float = 0.0,
        causal: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        """Create the four dense layers."""
        super().__init__(**kwargs)
        check_positive("num_heads", num_heads)
        check_divisible("hidden_dim", hidden_dim, "num_heads", num_heads)
        check_rate("dropout", dropout)
        self.num_heads = num_heads
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.causal = causal
        self.head_dim = hidden_dim // num_heads
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.query = self._dense("query")
        self.key = self._dense("key")
        self.value = self._dense("value")
        self.attention_output = self._dense("attention_output")
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")
        self.supports_masking = True

    def _dense(self, name: str) -> keras.layers.Dense:
        return keras.layers.Dense(
            self.hidden_dim,
            # Serialised, so that each layer draws from an initializer of its own.
            kernel_initializer=keras.initializers.serialize(self.kernel_initializer),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build the kernels for states of width `hidden_dim`."""
        for layer in (self.query, self.key, self.value, self.attention_output):
            layer.build((None, self.hidden_dim))
        self.built = True

    def call(
        self,
        hidden_states: Tensor,
        padding_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        visible: Tensor | None = None,
    ) -> Tensor:
        """Attend; see the class."""
        query, key, value = self.project(hidden_states)
        if visible is None:
            visible = self.visible(ops.shape(hidden_states)[1], padding_mask)
        output, probabilities = self.attend(query, key, value, visible, training=training)
        return (output, probabilities) if return_attention_scores else output

    def project(self, hidden_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query (scaled), key and value of each head, (batch, heads, seq, head)."""
        batch, length = ops.shape(hidden_states)[:2]
        flat = ops.reshape(hidden_states, (-1, self.hidden_dim))

        def split_heads(tensor: Tensor) -> Tensor:
            tensor = ops.reshape(tensor, (batch, length, self.num_heads, self.head_dim))
            return ops.transpose(tensor, (0, 2, 1, 3))

        query = split_heads(self.query(flat))
        # Scaling the query and not the scores costs seq / head times less.
        query = query * ops.cast(1.0 / math.sqrt(self.head_dim), query.dtype)
        return query, split_heads(self.key(flat)), split_heads(self.value(flat))

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        visible: Tensor | None = None,
        training: bool | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the attended states, (batch, query, hidden), and the probabilities.

        Args:
            query: (batch, heads, query, head) float, from `project`.
            key: (batch, heads, key, head) float, from `project` or a cache of it.
            value: (batch, heads, key, head) float, likewise.
            visible: bool, broadcast to (batch, heads, query, key); None if all is seen.
            training: bool, apply dropout.
        """
        batch, _, length, _ = ops.shape(query)
        probabilities = self.probabilities(query, key, visible)
        weights = self.dropout_layer(ops.cast(probabilities, value.dtype), training=training)
        joined = ops.transpose(ops.matmul(weights, value), (0, 2, 1, 3))
        output = self.attention_output(ops.reshape(joined, (-1, self.hidden_dim)))
        return ops.reshape(output, (batch, length, self.hidden_dim)), probabilities

    def probabilities(self, query: Tensor, key: Tensor, visible: Tensor | None = None) -> Tensor:
        """Return what each query gives each key, (batch, heads, query, key) float32.

        Args:
            query: (batch, heads, query, head) float, from `project`.
            key: (batch, heads, key, head) float, likewise.
            visible: bool, broadcast to (batch, heads, query, key); None if all is seen.
        """
        scores = ops.cast(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))), "float32")
        if visible is not None:
            scores = ops.where(visible, scores, _MASKED_SCORE)
        # Keras warns of a softmax over one position, which is right here: a text of one token.
        only_one = scores.shape[-1] == 1
        return ops.ones_like(scores) if only_one else ops.softmax(scores, axis=-1)

    def visible(self, length: int | Tensor, padding_mask: Tensor | None = None) -> Tensor | None:
        """Return what may be seen, bool, broadcast to (batch, heads, query, key); None if all is.

        Args:
            length: int, positions of the row.
            padding_mask: (batch, seq) int32 or bool, 1 on real tokens; None if nothing is padded.
        """
        visible = None
        if padding_mask is not None:
            visible = ops.cast(padding_mask, "bool")[:, None, None, :]
        if self.causal:
            positions = ops.arange(length, dtype="int32")
            earlier = (positions[None, :] <= positions[:, None])[None, None]
            visible = earlier if visible is None else ops.logical_and(earlier, visible)
        return visible

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return the shape of the states, which stays as it was."""
        return tuple(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "hidden_dim": self.hidden_dim,
            "dropout": self.dropout,
            "causal": self.causal,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
