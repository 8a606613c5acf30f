"""The head of a masked language model: logits of the vocabulary at chosen positions."""

from typing import Any, Self

import keras
from keras import ops

from kerazoo.axes import Initializer, Tensor
from kerazoo.layers.feed_forward import get_activation


@keras.saving.register_keras_serializable(package="kerazoo")
class MaskedLMHead(keras.layers.Layer):
    """Gather the chosen positions, then norm(act(W h + b)) Eᵀ + c, with E the token embedding.

    As in Google's BERT (`get_masked_lm_output`). The gather comes first, so that logits are never
    computed at positions that no loss reads.

    Args:
        token_embedding: a `keras.layers.ReversibleEmbedding`, whose matrix E is also the output
            matrix.
        activation: "gelu", "gelu_approximate" or "relu".
        layer_norm_epsilon: float, added to the variance in the layer norm.
        kernel_initializer: initializer of W.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        hidden_states: (batch, seq, hidden) float.
        mask_positions: (batch, masks) int32, positions from 0 to seq - 1.

    Returns:
        (batch, masks, vocabulary) float32 logits, under every dtype policy.

    Raises:
        ValueError: if the embedding has no reverse direction.
    """

    def __init__(
        self,
        token_embedding: keras.layers.Layer,
        activation: str = "gelu",
        layer_norm_epsilon: float = 1e-12,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        """Create the dense layer and the layer norm."""
        super().__init__(**kwargs)
        if not isinstance(token_embedding, keras.layers.ReversibleEmbedding):
            raise ValueError(
                "The output matrix is the token embedding, so that must be a "
                "keras.layers.ReversibleEmbedding. "
                f"Received: token_embedding={type(token_embedding).__name__}"
            )
        self.token_embedding = token_embedding
        self.activation = activation
        self.layer_norm_epsilon = layer_norm_epsilon
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.hidden_dim = token_embedding.output_dim
        self.vocabulary_size = token_embedding.input_dim
        self.dense = keras.layers.Dense(
            self.hidden_dim,
            activation=get_activation(activation),
            kernel_initializer=keras.initializers.serialize(self.kernel_initializer),
            dtype=self.dtype_policy,
            name="dense",
        )
        self.layer_norm = keras.layers.LayerNormalization(
            epsilon=layer_norm_epsilon, dtype=self.dtype_policy, name="layer_norm"
        )

    def build(
        self,
        hidden_states_shape: tuple[int | None, ...],
        mask_positions_shape: tuple[int | None, ...],
    ) -> None:
        """Build the weights; the token embedding is there already."""
        self.dense.build((None, self.hidden_dim))
        self.layer_norm.build((None, self.hidden_dim))
        self.bias = self.add_weight(
            shape=(self.vocabulary_size,),
            initializer="zeros",
            # Added in float32, so it must not be rounded before.
            autocast=False,
            name="bias",
        )
        self.built = True

    def call(self, hidden_states: Tensor, mask_positions: Tensor) -> Tensor:
        """Compute the logits; see the class."""
        batch, length, _ = ops.shape(hidden_states)
        masks = ops.shape(mask_positions)[1]
        row_starts = ops.expand_dims(ops.arange(batch, dtype="int32") * length, axis=1)
        chosen = ops.reshape(row_starts + ops.cast(mask_positions, "int32"), (-1,))
        # Flat rows: one gather, and TensorFlow fuses dense layer and GELU at rank 2 only.
        states = ops.take(ops.reshape(hidden_states, (-1, self.hidden_dim)), chosen, axis=0)
        states = self.layer_norm(self.dense(states))
        logits = ops.cast(self.token_embedding(states, reverse=True), "float32")
        logits = logits + ops.cast(self.bias, "float32")
        return ops.reshape(logits, (batch, masks, self.vocabulary_size))

    def compute_output_spec(self, hidden_states: Tensor, mask_positions: Tensor) -> Any:
        """Return (batch, masks, vocabulary) float32."""
        return keras.KerasTensor((*mask_positions.shape, self.vocabulary_size), dtype="float32")

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        embedding = keras.saving.serialize_keras_object(self.token_embedding)
        # Rebuilt at once, it would get another matrix before it could be tied.
        embedding.pop("build_config", None)
        return {
            **super().get_config(),
            "token_embedding": embedding,
            "activation": self.activation,
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create the layer and its token embedding from `get_config`."""
        embedding = keras.saving.deserialize_keras_object(config["token_embedding"])
        head: Self = cls(**{**config, "token_embedding": embedding})
        return head
