"""The signatures of an exported masked language model: text with masks in, tokens out."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import MASK_POSITIONS, PADDING_MASK, SEGMENT_IDS, TEXT, TOKEN_IDS
from kerazoo.tasks.fill_mask import FillMask
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE
from kerazoo.tasks.serving_signature import ServingSignature

SERVED_MASKS = 8
"""Masks of a text that are answered: the width is fixed, whatever else is in the batch."""

SERVED_TOP_K = 5
"""Tokens that are answered for each mask."""

_WIDTH = 8


def masked_lm_signatures(task: Any) -> dict[str, ServingSignature]:
    """Return the signatures of a task that fills in masks.

    `serving_default` takes `text`, (batch,) string, with masks in it, and answers the first 8 masks
    of each: `tokens` (batch, 8, 5) string and `scores` (batch, 8, 5) float32, best first;
    `positions` (batch, 8) int32, the character at which each mask begins; `mask_count` (batch,)
    int32, all masks of the text; `filled_text` (batch,) string. Slots without a mask have "", 0 and
    position -1. `features` takes `token_ids`, `segment_ids`, `padding_mask` and `mask_positions`,
    and answers `token_ids`, `tokens` and `scores`, (batch, masks, 5).

    Args:
        task: a `MaskedLM` or `BertPretrainer` with a preprocessor.

    Raises:
        ValueError: if it has no preprocessor.
    """
    filling = FillMask(task)
    top_k = min(SERVED_TOP_K, filling.filler.candidates)

    def fill(text: tf.Tensor) -> dict[str, tf.Tensor]:
        read = filling.reader.read(text, SERVED_MASKS, SERVED_MULTIPLE)
        return filling.filler.answers(_logits(task, read.features), read, top_k)

    def answer_features(**features: tf.Tensor) -> dict[str, tf.Tensor]:
        ids, tokens, scores = filling.filler.best(_logits(task, features), top_k)
        return {TOKEN_IDS: ids, "tokens": tokens, "scores": scores}

    example = f"A short {filling.reader.mask_token} to warm up with."
    return {
        "serving_default": ServingSignature(
            fill,
            (tf.TensorSpec((None,), tf.string, name=TEXT),),
            {TEXT: np.array([example.encode()])},
        ),
        "features": ServingSignature(
            answer_features,
            tuple(tf.TensorSpec((None, None), tf.int32, name=key) for key in task.input),
            _ready_example(task),
        ),
    }


def _logits(task: Any, features: dict[str, tf.Tensor]) -> tf.Tensor:
    inputs = {key: features[key] for key in task.input}
    return task.masked_lm_logits(task(inputs, training=False))


def _ready_example(task: Any) -> dict[str, np.ndarray]:
    ones = np.ones((1, _WIDTH), "int32")
    values = {TOKEN_IDS: ones, SEGMENT_IDS: 0 * ones, PADDING_MASK: ones}
    values[MASK_POSITIONS] = ones[:, :2]
    return {key: values[key] for key in task.input}
