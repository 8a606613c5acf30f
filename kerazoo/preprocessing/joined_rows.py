"""Texts of any length as rows of one length: joined by the end token and cut, nothing wasted."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor

_TEXTS_AT_ONCE = 1024


@dataclasses.dataclass(frozen=True)
class JoinedRows:
    """The inputs of a `CausalLM` without a preprocessor.

    Args:
        features: `token_ids` and `padding_mask`, each (rows, seq) int32.
        targets: (rows, seq) int32, the token after each.
        weights: (rows, seq) float32, 0 on padding, of which only the last row has any.
    """

    features: dict[str, np.ndarray]
    targets: np.ndarray
    weights: np.ndarray


def joined_rows(preprocessor: CausalLMPreprocessor, texts: Sequence[str]) -> JoinedRows:
    """Tokenise texts, join them, and cut them into rows of `preprocessor.sequence_length`.

    Every token but the first is a target exactly once; a row begins with the last target of the
    row before it.

    Args:
        preprocessor: says which start and end tokens stand between the texts.
        texts: at least one.

    Raises:
        ValueError: if there are fewer than two tokens, so that nothing can be predicted.
    """
    portions = []
    with tf.device("cpu"):
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = tf.constant(list(texts[start : start + _TEXTS_AT_ONCE]))
            portions.append(preprocessor.tokens(part, with_end=True).flat_values.numpy())
    ids = np.concatenate(portions).astype("int32")
    if len(ids) < 2:
        raise ValueError(
            "There is nothing to predict: all texts together need at least two tokens. "
            f"Received: {len(texts)} texts of {len(ids)} tokens"
        )
    width = preprocessor.sequence_length
    rows = -(-(len(ids) - 1) // width)
    padding = rows * width + 1 - len(ids)
    pad = preprocessor.tokenizer.pad_token_id
    padded = np.concatenate([ids, np.full(padding, pad, dtype="int32")])
    real = np.arange(rows * width + 1) < len(ids)
    return JoinedRows(
        features={
            TOKEN_IDS: padded[:-1].reshape(rows, width),
            PADDING_MASK: real[:-1].reshape(rows, width).astype("int32"),
        },
        targets=padded[1:].reshape(rows, width),
        weights=real[1:].reshape(rows, width).astype("float32"),
    )
