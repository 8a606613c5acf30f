"""More rows in a token embedding, for tokens that are added to a vocabulary."""

from typing import Any

import keras
from keras import ops

from kerazoo.backbones.base import Backbone


def resize_vocabulary(backbone: Backbone, rows: int) -> Any:
    """Return the backbone with a larger token embedding.

    Args:
        backbone: the backbone; it stays as it is.
        rows: int, the new `vocabulary_size`, at least the old one.

    Returns:
        A new backbone: all weights bit-equal, the new rows from the initializer, behind the old
        ones. The same backbone if it has as many rows already.

    Raises:
        ValueError: if there would be fewer rows than now, or the weights are quantised or have LoRA
            updates beside them.
    """
    old_rows = backbone.config.vocabulary_size
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < old_rows:
        raise ValueError(
            f"A vocabulary can only grow, and this one has {old_rows} tokens. "
            f"Received: rows={rows!r}"
        )
    if rows == old_rows:
        return backbone
    _check_plain(backbone)
    config = {**backbone.get_config(), "vocabulary_size": rows}
    resized = type(backbone).from_config(config)
    table = backbone.token_embedding.embeddings
    for old, new in zip(backbone.weights, resized.weights, strict=True):
        if old is table:
            new.assign(ops.concatenate([old, new[old_rows:]], axis=0))
        else:
            new.assign(old)
    resized.load_report = backbone.load_report
    return resized


def _check_plain(backbone: Backbone) -> None:
    """Raise ValueError unless every weight is a plain one."""
    layers: list[keras.layers.Layer] = backbone._flatten_layers()
    for state in ("quantization_mode", "lora_enabled"):
        if any(getattr(layer, state, None) for layer in layers):
            raise ValueError(
                "Only plain weights can be resized; resize the vocabulary before you quantise or "
                f"enable LoRA. Received: {type(backbone).__name__} with {state} set"
            )
