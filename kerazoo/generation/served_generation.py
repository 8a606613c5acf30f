"""Generation inside a served graph: TensorFlow's core ops, a loop over tokens, row by row.

`CausalLM.generate` computes the same tokens with KerasHub's samplers, compiled as a whole; its
cache writes are XLA ops, which a stock server refuses, and its settings hold for a whole batch.
"""

from typing import Any

import tensorflow as tf

from kerazoo.generation.row_sampling import RowSettings, choose_tokens, uniform_rows
from kerazoo.layers.key_value_cache import write_where


def continue_rows(
    backbone: Any,
    prompts: tf.RaggedTensor,
    max_new_tokens: tf.Tensor,
    settings: RowSettings,
    seeds: tf.Tensor,
    end_token_id: int | None,
    longest: int,
) -> tf.RaggedTensor:
    """Continue prompts, each with its own settings; a neighbour in the batch changes nothing.

    The cache has a slot for each position of the widest prompt and after those one for each new
    token, so that all rows write to the same slot; a row sees its own prompt and its new tokens,
    and its positions count on from its own length.

    Args:
        backbone: a `GPTBackbone`.
        prompts: (batch, tokens) int32, at least one token in each row.
        max_new_tokens: (batch,) int32, 1 or more; prompt and continuation must fit the backbone.
        settings: how tokens are chosen.
        seeds: (batch,) int32.
        end_token_id: the token that ends a text; None never ends one.
        longest: int, the most new tokens that a request may ask for.

    Returns:
        The new tokens, (batch, tokens) int32, without the end token.
    """
    lengths = tf.cast(prompts.row_lengths(), tf.int32)
    width = tf.reduce_max(tf.concat([lengths, [1]], axis=0))
    steps = tf.reduce_max(tf.concat([max_new_tokens, [1]], axis=0))
    states, cache = backbone.read_prompt(prompts.to_tensor(0, shape=None), width + steps)
    last = tf.maximum(lengths - 1, 0)
    logits = backbone.next_token_logits(tf.gather(states, last, axis=1, batch_dims=1))
    last_position = backbone.config.max_sequence_length - 1
    uniform = uniform_rows(seeds, longest)
    slots = tf.range(width + steps)[tf.newaxis, :]
    in_prompt = slots < lengths[:, tf.newaxis]

    def choose(logits: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        logits = tf.cast(logits, tf.float32)
        return choose_tokens(logits, settings, tf.gather(uniform, step, axis=1))

    def is_done(token: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        ended = step + 1 >= max_new_tokens
        return ended if end_token_id is None else ended | (token == end_token_id)

    def body(
        step: tf.Tensor, token: tf.Tensor, done: tf.Tensor, new: tf.TensorArray, cache: Any
    ) -> tuple[Any, ...]:
        # The token of `step` is known; it is read, and the next one is chosen.
        slot = width + step
        visible = in_prompt | ((slots >= width) & (slots <= slot))
        states, cache = backbone.read_token(
            token[:, tf.newaxis],
            cache,
            slot,
            # A row that is done goes along with the others, perhaps past the last position.
            positions=tf.minimum(lengths + step, last_position)[:, tf.newaxis],
            visible=visible[:, tf.newaxis, tf.newaxis, :],
            write=write_where,
        )
        following = choose(backbone.next_token_logits(states[:, 0]), step + 1)
        following = tf.where(done, -1, following)
        new = new.write(step + 1, following)
        return step + 1, tf.maximum(following, 0), done | is_done(following, step + 1), new, cache

    first = choose(logits, tf.constant(0))
    new = tf.TensorArray(tf.int32, size=steps, element_shape=(None,)).write(0, first)
    done = is_done(first, tf.constant(0))
    step, _, _, new, _ = tf.while_loop(
        lambda step, token, done, new, cache: ~tf.reduce_all(done),
        body,
        (tf.constant(0), first, done, new, cache),
    )
    return _without_end(tf.transpose(new.stack())[:, : step + 1], end_token_id)


def _without_end(written: tf.Tensor, end_token_id: int | None) -> tf.RaggedTensor:
    """Return the tokens of rows that are -1 where nothing was chosen any more."""
    real = written >= 0
    if end_token_id is not None:
        real &= written != end_token_id
    return tf.ragged.boolean_mask(written, real)
