"""The attention of every layer and head on texts, with the tokens it lies between."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerazoo.analysis.analysed_model import AnalysedModel, check_sequence_length
from kerazoo.analysis.layer_stream import layer_stream
from kerazoo.analysis.packed_texts import PackedTexts, pack_texts, part_name, text_rows
from kerazoo.axes import SEGMENT_IDS, TOKEN_IDS
from kerazoo.checks import check_positive
from kerazoo.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class AttentionMap:
    """The attention on one text, or pair; `seq` counts its real tokens.

    Args:
        texts: the text, or the pair.
        tokens: the tokens as the vocabulary writes them, special ones included.
        token_ids: (seq,) int32.
        segment_ids: (seq,) int32, 1 on the second text of a pair.
        offsets: (seq, 2) int32, the characters of its own text that each token stands for, white
            space left out, half-open; -1 on special tokens.
        weights: (layers, heads, query, key) float32; rows sum to 1.
    """

    texts: tuple[str, ...]
    tokens: list[str]
    token_ids: np.ndarray
    segment_ids: np.ndarray
    offsets: np.ndarray
    weights: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """Return everything, fit for JSON; weights have six decimals."""
        return {
            "texts": list(self.texts),
            "tokens": self.tokens,
            "token_ids": self.token_ids.tolist(),
            "segment_ids": self.segment_ids.tolist(),
            "offsets": self.offsets.tolist(),
            "weights": np.round(self.weights.astype("float64"), 6).tolist(),
        }


def attention_maps(
    model: Any,
    texts: Any,
    tokenizer: Tokenizer | None = None,
    batch_size: int = 16,
    sequence_length: int | None = None,
) -> Iterator[AttentionMap]:
    """Return the attention of every layer and head on texts, one text after the other.

    The texts are tokenised and checked at once; their attention is computed in batches when it is
    asked for, layer by layer, so that for any number of texts that of one batch is in memory.
    Dropout is off.

    Args:
        model: a task or a backbone of kerazoo, or the folder or handle of one.
        texts: a string, a list, a pair `(list_a, list_b)`, or a dict `{"text": …, "text_pair": …}`.
        tokenizer: the tokenizer of a backbone; None is the task's or the folder's own.
        batch_size: int, texts computed together.
        sequence_length: int, cut longer texts to so many tokens; None makes a text that the model
            cannot read whole an error.

    Returns:
        An iterator of one `AttentionMap` a text, in order.

    Raises:
        ValueError: if a text is empty, has no token or too many, or the model cannot be looked
            into.

    Example:
        (found,) = kerazoo.analysis.attention_maps("path/to/bert", "The cat sat.")
        found.tokens, found.weights[0, 3]       # the fourth head of the first layer
    """
    check_positive("batch_size", batch_size)
    rows = text_rows(texts)
    analysed = AnalysedModel.of(model, tokenizer, sequence_length)
    limit = row_limit(analysed, sequence_length)
    batches = []
    for start in range(0, len(rows), batch_size):
        packed = pack_texts(analysed, rows[start : start + batch_size], limit)
        _check_tokens(packed, start, limit, cut=sequence_length is not None)
        batches.append(packed)
    return _maps(analysed, batches)


def row_limit(model: AnalysedModel, sequence_length: int | None) -> int:
    """Return the most positions of a row: those asked for, or all that the model has.

    Raises:
        ValueError: if more are asked for.
    """
    if sequence_length is None:
        return model.limit
    check_sequence_length(sequence_length, model.limit)
    return sequence_length


def attention_of(model: AnalysedModel, packed: PackedTexts) -> Iterator[np.ndarray]:
    """Yield the attention of each layer on packed texts, (batch, heads, query, key) float32."""
    inputs = packed.inputs_of(model.backbone)
    return layer_stream(model.backbone.attention_by_layer(inputs, model.run_block))


def _maps(model: AnalysedModel, batches: list[PackedTexts]) -> Iterator[AttentionMap]:
    for packed in batches:
        yield from _batch_maps(model, packed)


def _batch_maps(model: AnalysedModel, packed: PackedTexts) -> Iterator[AttentionMap]:
    # A function of its own: when it ends, nothing of the batch is left in memory.
    for row, weights in enumerate(_cut_weights(model, packed)):
        yield _map(model, packed, row, weights)


def _cut_weights(model: AnalysedModel, packed: PackedTexts) -> list[np.ndarray]:
    """Return the weights of each text, (layers, heads, query, key), without padding."""
    config = model.backbone.config
    weights = [
        np.empty((config.num_layers, config.num_heads, length, length), "float32")
        for length in packed.lengths
    ]
    for layer, scores in enumerate(attention_of(model, packed)):
        for row, length in enumerate(packed.lengths):
            weights[row][layer] = scores[row, :, :length, :length]
    return weights


def _map(model: AnalysedModel, packed: PackedTexts, row: int, weights: np.ndarray) -> AttentionMap:
    length = packed.lengths[row]
    ids = packed.features[TOKEN_IDS][row, :length]
    return AttentionMap(
        texts=packed.texts[row],
        tokens=[model.tokenizer.id_to_token(int(number)) for number in ids],
        token_ids=ids,
        segment_ids=packed.features[SEGMENT_IDS][row, :length],
        offsets=np.stack([packed.starts[row, :length], packed.ends[row, :length]], axis=1),
        weights=weights,
    )


def _check_tokens(packed: PackedTexts, first: int, limit: int, cut: bool) -> None:
    """Raise ValueError if a text has no token, or more than the model reads and is not cut."""
    found = zip(packed.texts, packed.token_counts, packed.without_tokens, strict=True)
    for number, (row, count, without_tokens) in enumerate(found, first):
        if without_tokens is not None:
            raise ValueError(
                f"No token is left of {part_name(number, without_tokens)}. Give it a word. "
                f"Received: {row[without_tokens][:40]!r}"
            )
        if count > limit and not cut:
            raise ValueError(
                f"Text {number} has {count} tokens, and the model reads at most {limit}. "
                f"Shorten it, or cut it with sequence_length={limit}. "
                f"Received: {row[0][:40]!r}…"
            )
