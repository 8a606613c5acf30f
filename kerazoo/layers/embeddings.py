"""The input of a transformer: token, position and perhaps segment embeddings, added up."""

from typing import Any

import keras
from keras import ops

from kerazoo.axes import Initializer, Tensor
from kerazoo.checks import check_positive, check_rate


@keras.saving.register_keras_serializable(package="kerazoo")
class TransformerEmbeddings(keras.layers.Layer):
    """Token + position + segment, a layer norm, then dropout.

    BERT has all of it (Devlin et al. 2018, figure 2); GPT has no segments and no layer norm here
    (Radford et al. 2018, equation 2).

    Args:
        vocabulary_size: int, rows of the token embedding.
        hidden_dim: int, width of the states.
        max_sequence_length: int, rows of the position embedding.
        num_segments: int, rows of the segment embedding; 0 is none.
        dropout: float, dropout rate on the result.
        layer_norm_epsilon: float, added to the variance in the layer norm; None is no layer norm.
        embeddings_initializer: initializer of the three matrices.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        token_ids: (batch, seq) int32.
        segment_ids: (batch, seq) int32; None without segments.
        positions: (seq,) or (batch, seq) int32; None counts from 0.

    Returns:
        (batch, seq, hidden) float.

    Raises:
        ValueError: if `seq` is known and exceeds `max_sequence_length`.
    """

    def __init__(
        self,
        vocabulary_size: int,
        hidden_dim: int,
        max_sequence_length: int,
        num_segments: int = 2,
        dropout: float = 0.0,
        layer_norm_epsilon: float | None = 1e-12,
        embeddings_initializer: Initializer = "uniform",
        **kwargs: Any,
    ) -> None:
        """Create the three embeddings, the layer norm and the dropout."""
        super().__init__(**kwargs)
        check_rate("dropout", dropout)
        self.vocabulary_size = vocabulary_size
        self.hidden_dim = hidden_dim
        self.max_sequence_length = max_sequence_length
        self.num_segments = num_segments
        self.dropout = dropout
        self.layer_norm_epsilon = layer_norm_epsilon
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)
        self.token_embedding = self._embedding(
            "token_embedding", vocabulary_size, keras.layers.ReversibleEmbedding
        )
        self.position_embedding = self._embedding("position_embedding", max_sequence_length)
        self.segment_embedding = None
        if num_segments:
            self.segment_embedding = self._embedding("segment_embedding", num_segments)
        self.layer_norm = None
        if layer_norm_epsilon is not None:
            self.layer_norm = keras.layers.LayerNormalization(
                epsilon=layer_norm_epsilon, dtype=self.dtype_policy, name="layer_norm"
            )
        self.dropout_layer = keras.layers.Dropout(dropout, dtype=self.dtype_policy, name="dropout")

    def _embedding(
        self, name: str, rows: int, layer: type[keras.layers.Embedding] = keras.layers.Embedding
    ) -> keras.layers.Embedding:
        check_positive(f"rows of {name}", rows)
        return layer(
            rows,
            self.hidden_dim,
            embeddings_initializer=keras.initializers.serialize(self.embeddings_initializer),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        """Build the matrices and the layer norm."""
        for layer in (self.token_embedding, self.position_embedding, self.segment_embedding):
            if layer is not None:
                layer.build((None, None))
        if self.layer_norm is not None:
            self.layer_norm.build((None, None, self.hidden_dim))
        self.built = True

    def call(
        self,
        token_ids: Tensor,
        segment_ids: Tensor | None = None,
        positions: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Embed; see the class."""
        if positions is None:
            positions = ops.arange(self._checked_length(token_ids), dtype="int32")
        hidden_states = self.token_embedding(token_ids) + self.position_embedding(positions)
        if self.segment_embedding is not None:
            hidden_states = hidden_states + self.segment_embedding(segment_ids)
        if self.layer_norm is not None:
            hidden_states = self.layer_norm(hidden_states)
        return self.dropout_layer(hidden_states, training=training)

    def _checked_length(self, token_ids: Tensor) -> int | Tensor:
        length = ops.shape(token_ids)[1]
        if isinstance(length, int) and length > self.max_sequence_length:
            raise ValueError(
                f"The model has {self.max_sequence_length} positions, so longer input must be "
                f"truncated first. Received: token_ids of shape {tuple(token_ids.shape)}"
            )
        return length

    def compute_output_shape(self, input_shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        """Return (batch, seq, hidden)."""
        return (*input_shape, self.hidden_dim)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "hidden_dim": self.hidden_dim,
            "max_sequence_length": self.max_sequence_length,
            "num_segments": self.num_segments,
            "dropout": self.dropout,
            "layer_norm_epsilon": self.layer_norm_epsilon,
            "embeddings_initializer": keras.initializers.serialize(self.embeddings_initializer),
        }
