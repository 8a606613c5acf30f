"""Prompts that are given as ids, for a language model without a tokenizer."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from kerazoo.axes import PADDING_MASK, TOKEN_IDS


def ready_prompts(inputs: Any, vocabulary_size: int) -> tuple[list[list[int]], int]:
    """Return the ids of each prompt, and how many positions a row has.

    Args:
        inputs: dict of `token_ids`, (batch, seq) int, padded at the end, and `padding_mask`, as
            large, 1 or True on the prompts.
        vocabulary_size: int, tokens of the model.

    Raises:
        TypeError: if the inputs are no such dict.
        ValueError: if the arrays do not fit together, a prompt has a gap, or an id is no token.
    """
    if not isinstance(inputs, Mapping) or not {TOKEN_IDS, PADDING_MASK} <= set(inputs):
        received = sorted(inputs) if isinstance(inputs, Mapping) else type(inputs).__name__
        raise TypeError(
            f"Without a preprocessor, prompts are a dict of `{TOKEN_IDS}` and `{PADDING_MASK}`. "
            f"Received: inputs={received}"
        )
    token_ids = keras.ops.convert_to_numpy(inputs[TOKEN_IDS])
    mask = keras.ops.convert_to_numpy(inputs[PADDING_MASK]).astype(bool)
    if token_ids.ndim != 2 or token_ids.shape != mask.shape or token_ids.dtype.kind not in "iu":
        raise ValueError(
            f"`{TOKEN_IDS}` must be whole numbers, (batch, seq), and `{PADDING_MASK}` as large. "
            f"Received: {TOKEN_IDS} of shape {token_ids.shape} and dtype {token_ids.dtype}, "
            f"{PADDING_MASK} of shape {mask.shape}"
        )
    rows = []
    for number, (ids, is_real) in enumerate(zip(token_ids, mask, strict=True)):
        _check_row(number, ids, is_real, vocabulary_size)
        rows.append(ids[is_real].tolist())
    return rows, token_ids.shape[1]


def _check_row(number: int, ids: np.ndarray, is_real: np.ndarray, vocabulary_size: int) -> None:
    """Raise ValueError unless a prompt stands at the beginning of its row and is of tokens."""
    count = int(is_real.sum())
    if not is_real[:count].all():
        raise ValueError(
            f"A prompt begins its row, with padding behind it alone, and prompt {number} has "
            f"padding before its end. Received: {PADDING_MASK}={is_real.astype(int).tolist()}"
        )
    for token in ids[:count][(ids[:count] < 0) | (ids[:count] >= vocabulary_size)][:1]:
        raise ValueError(
            f"Ids are 0 to {vocabulary_size - 1}. Received: {TOKEN_IDS}={token} in prompt {number}"
        )
