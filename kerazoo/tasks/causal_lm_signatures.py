"""The signatures of an exported `CausalLM`: text in, continuation out."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT
from kerazoo.generation.row_sampling import RowSettings
from kerazoo.generation.served_generation import continue_rows
from kerazoo.tasks.serving_signature import ServingSignature

DEFAULT_NEW_TOKENS = 64
"""Tokens that `serving_default` adds at most."""

_EXAMPLE = "The weather tomorrow will"
_WARMUP_TOKENS = 8


def causal_lm_signatures(task: Any) -> dict[str, ServingSignature]:
    """Return the signatures of a language model.

    `serving_default` takes `text` and continues it greedily by at most 64 tokens. `generate` takes
    beside `text`, for each row, `max_new_tokens`, `temperature` (0 is greedy), `top_k` (0 is all),
    `top_p` (1 is all) and `seed`. Both give `generated_text`, the continuation alone, and
    `num_tokens`. A prompt that is too long keeps its end; an empty one begins with the end token.

    Args:
        task: a `CausalLM` with a preprocessor.

    Raises:
        ValueError: if the task has no preprocessor, so no tokenizer.
    """
    if task.preprocessor is None:
        raise ValueError(
            "A language model is exported with its tokenizer; give the task a preprocessor. "
            "Received: preprocessor=None"
        )
    limit = task.backbone.config.max_sequence_length
    longest = limit - 1

    def generate(
        text: tf.Tensor,
        max_new_tokens: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
        seed: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        wanted = tf.clip_by_value(max_new_tokens, 1, longest)
        new = continue_rows(
            task.backbone,
            _prompts(task.preprocessor, text, limit - wanted),
            wanted,
            RowSettings(temperature, top_k, top_p),
            seed,
            task.preprocessor.tokenizer.end_token_id,
            longest,
        )
        generated = task.preprocessor.tokenizer.detokenize(new)
        return {
            "generated_text": tf.strings.unicode_transcode(
                generated, "UTF-8", "UTF-8", errors="replace"
            ),
            "num_tokens": tf.cast(new.row_lengths(), tf.int32),
        }

    def generate_by_default(text: tf.Tensor) -> dict[str, tf.Tensor]:
        def every_row(value: int | float) -> tf.Tensor:
            return tf.fill(tf.shape(text), value)

        count = min(DEFAULT_NEW_TOKENS, longest)
        return generate(
            text, every_row(count), every_row(0.0), every_row(0), every_row(1.0), every_row(0)
        )

    example = {TEXT: np.array([_EXAMPLE.encode()])}
    settings = {
        "max_new_tokens": np.array([_WARMUP_TOKENS], "int32"),
        "temperature": np.array([1.0], "float32"),
        "top_k": np.array([40], "int32"),
        "top_p": np.array([0.95], "float32"),
        "seed": np.array([1], "int32"),
    }
    specs = [tf.TensorSpec((None,), value.dtype, name=key) for key, value in settings.items()]
    text_spec = tf.TensorSpec((None,), tf.string, name=TEXT)
    return {
        "serving_default": ServingSignature(generate_by_default, (text_spec,), example),
        "generate": ServingSignature(generate, (text_spec, *specs), {**example, **settings}),
    }


def _prompts(preprocessor: Any, text: tf.Tensor, room: tf.Tensor) -> tf.RaggedTensor:
    """Return the ids of prompts, at least one each and at most `room`, the last ones."""
    ids = preprocessor.tokens(text, with_end=False)
    tokenizer = preprocessor.tokenizer
    start = tokenizer.pad_token_id if tokenizer.end_token_id is None else tokenizer.end_token_id
    missing = tf.cast(ids.row_lengths() == 0, tf.int64)
    begin = tf.RaggedTensor.from_row_lengths(tf.fill([tf.reduce_sum(missing)], start), missing)
    ids = tf.concat([begin, ids], axis=1)
    lengths = ids.row_lengths()
    positions = tf.ragged.range(lengths)
    first = tf.maximum(lengths - tf.cast(room, tf.int64), 0)
    return tf.ragged.boolean_mask(ids, positions >= first[:, tf.newaxis])
