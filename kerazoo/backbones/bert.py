"""BERT (Devlin et al. 2018, https://arxiv.org/abs/1810.04805): the encoder."""

import dataclasses
from typing import Any

import keras

from kerazoo.axes import (
    ID_DTYPE,
    PADDING_MASK,
    POOLED_OUTPUT,
    SEGMENT_IDS,
    SEQUENCE_OUTPUT,
    TOKEN_IDS,
    Tensor,
)
from kerazoo.backbones.base import Backbone
from kerazoo.backbones.config_checks import BLOCK_FIELDS, check_transformer_config
from kerazoo.layers.embeddings import TransformerEmbeddings
from kerazoo.layers.pooling import FirstTokenPooler
from kerazoo.layers.transformer_block import TransformerBlock


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """Every number of a BERT encoder, each in one place.

    Args:
        vocabulary_size: int, rows of the token embedding.
        num_layers: int, transformer blocks.
        num_heads: int, attention heads of a block.
        hidden_dim: int, width of the states; a multiple of `num_heads`.
        intermediate_dim: int, width inside the feed-forward networks.
        dropout: float, dropout rate on embeddings and sublayer outputs.
        attention_dropout: float, dropout rate on attention probabilities.
        max_sequence_length: int, positions.
        num_segments: int, segment (token type) ids.
        activation: "gelu" (exact, as Google and Hugging Face), "gelu_approximate" or "relu".
        layer_norm_epsilon: float, added to the variance in every layer norm.
        initializer_range: float, standard deviation of new weights.

    Raises:
        ValueError: if a value is out of range or two of them do not fit together.
    """

    vocabulary_size: int
    num_layers: int
    num_heads: int
    hidden_dim: int
    intermediate_dim: int
    dropout: float = 0.1
    attention_dropout: float = 0.1
    max_sequence_length: int = 512
    num_segments: int = 2
    activation: str = "gelu"
    layer_norm_epsilon: float = 1e-12
    initializer_range: float = 0.02

    def __post_init__(self) -> None:
        """Check the values."""
        check_transformer_config(self)


@keras.saving.register_keras_serializable(package="kerazoo")
class BertBackbone(Backbone):
    """The BERT encoder, up to the pooled `[CLS]` vector.

    Inputs, a dict: `token_ids`, `segment_ids`, `padding_mask`, each (batch, seq) int32.
    Outputs, a dict: `sequence_output` (batch, seq, hidden) and `pooled_output` (batch, hidden).

    Args:
        dtype: dtype policy, for example "mixed_bfloat16"; None is Keras's global one.
        name: str, the model's name.
        trainable: bool, whether the weights train.
        **fields: the fields of `BertConfig`.

    Raises:
        ValueError: if a field's value does not fit.
        TypeError: if a field is unknown or one without a default is missing.

    Example:
        backbone = kerazoo.BertBackbone.from_size("mini")
        backbone = kerazoo.BertBackbone.from_preset("hf://google-bert/bert-base-uncased")
    """

    config_class = BertConfig
    family = "bert"

    def __init__(
        self,
        *,
        dtype: Any = None,
        name: str | None = None,
        trainable: bool = True,
        **fields: Any,
    ) -> None:
        """Create the layers, then the functional graph."""
        config = BertConfig(**fields)
        self.config = config
        initializer = keras.initializers.TruncatedNormal(stddev=config.initializer_range)
        initializer = keras.initializers.serialize(initializer)

        # === Layers ===
        self.embeddings = TransformerEmbeddings(
            vocabulary_size=config.vocabulary_size,
            hidden_dim=config.hidden_dim,
            max_sequence_length=config.max_sequence_length,
            num_segments=config.num_segments,
            dropout=config.dropout,
            layer_norm_epsilon=config.layer_norm_epsilon,
            embeddings_initializer=initializer,
            dtype=dtype,
            name="embeddings",
        )
        self.token_embedding = self.embeddings.token_embedding
        block = {field: getattr(config, field) for field in BLOCK_FIELDS}
        self.transformer_layers = [
            TransformerBlock(
                **block, kernel_initializer=initializer, dtype=dtype, name=f"layer_{number}"
            )
            for number in range(config.num_layers)
        ]
        self.pooler = FirstTokenPooler(
            config.hidden_dim, kernel_initializer=initializer, dtype=dtype, name="pooler"
        )

        # === Functional graph ===
        inputs = {
            key: keras.Input(shape=(None,), dtype=ID_DTYPE, name=key)
            for key in (TOKEN_IDS, SEGMENT_IDS, PADDING_MASK)
        }
        hidden_states = self.embed(inputs)
        for layer in self.transformer_layers:
            hidden_states = layer(hidden_states, padding_mask=inputs[PADDING_MASK])
        super().__init__(
            inputs=inputs,
            outputs=self.outputs_of(hidden_states, inputs[PADDING_MASK]),
            dtype=dtype,
            name=name,
            trainable=trainable,
        )

    def embed(
        self,
        inputs: dict[str, Tensor],
        positions: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Return the embedding output, (batch, seq, hidden); see `Backbone.embed`."""
        return self.embeddings(
            inputs[TOKEN_IDS], inputs[SEGMENT_IDS], positions=positions, training=training
        )

    def outputs_of(self, hidden_states: Tensor, padding_mask: Tensor) -> dict[str, Tensor]:
        """Return the outputs, given the states after the last block."""
        return {SEQUENCE_OUTPUT: hidden_states, POOLED_OUTPUT: self.pooler(hidden_states)}
