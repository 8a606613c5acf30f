"""GPT-1 (Radford et al. 2018) and GPT-2 (Radford et al. 2019): the decoder."""

import dataclasses
from typing import Any

import keras
from keras import ops

from kerazoo.axes import (
    ID_DTYPE,
    PADDING_MASK,
    POOLED_OUTPUT,
    SEQUENCE_OUTPUT,
    TOKEN_IDS,
    Tensor,
)
from kerazoo.backbones.base import Backbone, RunBlock, run_at_once
from kerazoo.backbones.config_checks import BLOCK_FIELDS, check_transformer_config
from kerazoo.layers.embeddings import TransformerEmbeddings
from kerazoo.layers.key_value_cache import CacheWriter, KeyValueCache, write_slice
from kerazoo.layers.pooling import LastTokenPooler
from kerazoo.layers.transformer_block import TransformerBlock


@dataclasses.dataclass(frozen=True)
class GPTConfig:
    """Every number of a GPT decoder, each in one place.

    Args:
        vocabulary_size: int, rows of the token embedding, which is the output matrix too.
        num_layers: int, transformer blocks.
        num_heads: int, attention heads of a block.
        hidden_dim: int, width of the states; a multiple of `num_heads`.
        intermediate_dim: int, width inside the feed-forward networks.
        dropout: float, dropout rate on embeddings and sublayer outputs.
        attention_dropout: float, dropout rate on attention probabilities.
        max_sequence_length: int, positions: the context limit.
        normalize_first: bool, True is GPT-2 (a layer norm before each sublayer and one at the end),
            False is GPT-1 (a layer norm after each sublayer).
        activation: "gelu_approximate" (tanh, as OpenAI), "gelu" or "relu".
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
    max_sequence_length: int = 1024
    normalize_first: bool = True
    activation: str = "gelu_approximate"
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02

    def __post_init__(self) -> None:
        """Check the values."""
        check_transformer_config(self)


@keras.saving.register_keras_serializable(package="kerazoo")
class GPTBackbone(Backbone):
    """The GPT decoder, up to the states that the tied output matrix reads.

    h_0 = e W_e + W_p, then causal blocks (Radford et al. 2018, equation 2). A position sees itself
    and earlier positions that are not padding.

    Inputs, a dict: `token_ids`, `padding_mask`, each (batch, seq) int32.
    Outputs, a dict: `sequence_output` (batch, seq, hidden) and `pooled_output` (batch, hidden), the
    state of the last real token.

    Args:
        dtype: dtype policy, for example "mixed_bfloat16"; None is Keras's global one.
        name: str, the model's name.
        trainable: bool, whether the weights train.
        **fields: the fields of `GPTConfig`.

    Raises:
        ValueError: if a field's value does not fit.
        TypeError: if a field is unknown or one without a default is missing.

    Example:
        backbone = kerazoo.GPTBackbone.from_size("gpt2_small")
        backbone = kerazoo.GPTBackbone.from_preset("hf://openai-community/gpt2")
    """

    config_class = GPTConfig
    family = "gpt"

    def __init__(
        self,
        *,
        dtype: Any = None,
        name: str | None = None,
        trainable: bool = True,
        **fields: Any,
    ) -> None:
        """Create the layers, then the functional graph."""
        config = GPTConfig(**fields)
        self.config = config
        initializer = keras.initializers.RandomNormal(stddev=config.initializer_range)
        initializer = keras.initializers.serialize(initializer)

        # === Layers ===
        self.embeddings = TransformerEmbeddings(
            vocabulary_size=config.vocabulary_size,
            hidden_dim=config.hidden_dim,
            max_sequence_length=config.max_sequence_length,
            num_segments=0,
            dropout=config.dropout,
            layer_norm_epsilon=None,
            embeddings_initializer=initializer,
            dtype=dtype,
            name="embeddings",
        )
        self.token_embedding = self.embeddings.token_embedding
        block = {field: getattr(config, field) for field in BLOCK_FIELDS}
        block |= {"normalize_first": config.normalize_first, "kernel_initializer": initializer}
        self.transformer_layers = [
            TransformerBlock(**block, causal=True, dtype=dtype, name=f"layer_{number}")
            for number in range(config.num_layers)
        ]
        self.layer_norm = None
        if config.normalize_first:
            self.layer_norm = keras.layers.LayerNormalization(
                epsilon=config.layer_norm_epsilon, dtype=dtype, name="layer_norm"
            )
        self.pooler = LastTokenPooler(dtype=dtype, name="pooler")

        # === Functional graph ===
        inputs = {
            key: keras.Input(shape=(None,), dtype=ID_DTYPE, name=key)
            for key in (TOKEN_IDS, PADDING_MASK)
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
        return self.embeddings(inputs[TOKEN_IDS], positions=positions, training=training)

    def outputs_of(self, hidden_states: Tensor, padding_mask: Tensor) -> dict[str, Tensor]:
        """Return the outputs, given the states after the last block."""
        hidden_states = self.normalize(hidden_states)
        pooled = self.pooler(hidden_states, padding_mask=padding_mask)
        return {SEQUENCE_OUTPUT: hidden_states, POOLED_OUTPUT: pooled}

    def hidden_states(
        self, inputs: dict[str, Tensor], run_block: RunBlock = run_at_once
    ) -> list[Tensor]:
        """Return the states after the embeddings and after each layer, without dropout.

        The last one is `sequence_output`: in GPT-2 it has gone through the final layer norm, the
        others have not.

        Args:
            inputs: the backbone's input dict, each (batch, seq) int32.
            run_block: what runs the function that computes a layer.

        Returns:
            `num_layers + 1` tensors, (batch, seq, hidden); the embedding output is state 0.
        """
        *earlier, last = super().hidden_states(inputs, run_block)
        return [*earlier, self.normalize(last)]

    def normalize(self, hidden_states: Tensor) -> Tensor:
        """Return the states after the last block as the output matrix reads them."""
        return hidden_states if self.layer_norm is None else self.layer_norm(hidden_states)

    def next_token_logits(self, hidden_states: Tensor) -> Tensor:
        """Return h W_eᵀ, the logits of the next token.

        Args:
            hidden_states: (…, hidden) float, from `sequence_output`, `read_prompt` or `read_token`.

        Returns:
            (…, vocabulary) float.
        """
        is_a_step = len(hidden_states.shape) == 2  # of generation: few rows, no gradient
        if is_a_step and self.token_embedding.quantization_mode is None:
            # TensorFlow and PyTorch multiply 2 to 7 times as fast with the large matrix first.
            matrix = ops.cast(self.token_embedding.embeddings, hidden_states.dtype)
            return ops.transpose(ops.matmul(matrix, ops.transpose(hidden_states)))
        return self.token_embedding(hidden_states, reverse=True)

    def read_prompt(self, token_ids: Tensor, slots: int) -> tuple[Tensor, KeyValueCache]:
        """Encode the beginning of texts and keep the keys and values of every layer.

        Args:
            token_ids: (batch, seq) int32, padding at the end.
            slots: int, positions for which the cache has room; at least `seq`.

        Returns:
            (batch, seq, hidden) float and the cache.
        """
        hidden_states = self.embeddings(token_ids, training=False)
        length = ops.shape(token_ids)[1]
        room = ((0, 0), (0, 0), (0, slots - length), (0, 0))
        cache = []
        for layer in self.transformer_layers:
            attention = layer.attention
            query, key, value = attention.project(layer.attention_input(hidden_states))
            visible = attention.visible(length)
            attended, _ = attention.attend(query, key, value, visible, training=False)
            hidden_states = layer.after_attention(hidden_states, attended, training=False)
            cache.append((ops.pad(key, room), ops.pad(value, room)))
        return self.normalize(hidden_states), cache

    def read_token(
        self,
        token_ids: Tensor,
        cache: KeyValueCache,
        slot: Tensor,
        positions: Tensor,
        visible: Tensor,
        write: CacheWriter = write_slice,
    ) -> tuple[Tensor, KeyValueCache]:
        """Encode one more token of each text.

        Args:
            token_ids: (batch, 1) int32.
            cache: the keys and values of earlier tokens.
            slot: () int32, where the cache keeps this token.
            positions: (1,) or (batch, 1) int32, the token's place in its text.
            visible: bool, broadcast to (batch, heads, 1, slots): which slots the token sees, its
                own among them.
            write: how the cache is written.

        Returns:
            (batch, 1, hidden) float and the new cache.
        """
        hidden_states = self.embeddings(token_ids, positions=positions, training=False)
        new_cache = []
        for layer, (keys, values) in zip(self.transformer_layers, cache, strict=True):
            attention = layer.attention
            query, key, value = attention.project(layer.attention_input(hidden_states))
            keys, values = write(keys, key, slot), write(values, value, slot)
            attended, _ = attention.attend(query, keys, values, visible, training=False)
            hidden_states = layer.after_attention(hidden_states, attended, training=False)
            new_cache.append((keys, values))
        return self.normalize(hidden_states), new_cache
