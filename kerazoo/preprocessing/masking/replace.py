"""What stands in the place of a chosen token: [MASK], the token itself, or a random one."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


def replace_masked(
    token_ids: tf.Tensor,
    seed: tf.Tensor,
    mask_token_id: int,
    drawn_ids: Sequence[int],
    mask_token_rate: float = 0.8,
    random_token_rate: float = 0.1,
    draw_of_each: tf.Tensor | None = None,
    draw: Callable[..., tf.Tensor] | None = None,
) -> tf.Tensor:
    """Replace chosen tokens, each by a draw of its own: mask if u < 0.8, else keep if u' < 0.5.

    Args:
        token_ids: (chosen,) int32, the chosen tokens of all rows.
        seed: (2,) int32.
        mask_token_id: int, the id of [MASK].
        drawn_ids: the ids from which a random token is drawn, at least one.
        mask_token_rate: float, the share that becomes [MASK].
        random_token_rate: float, the share that becomes a random token; the rest is kept.
        draw_of_each: (chosen,) int32, below the number of chosen tokens: those with the same number
            share their draw (but not the random token); None for a draw each.
        draw: gives so many numbers for each chosen token, (chosen, count), with the arguments of
            `tf.random.stateless_uniform` behind its shape; None draws with it.

    Returns:
        (chosen,) int32.
    """
    if draw is None:

        def draw(count: int, seed: tf.Tensor, **options: Any) -> tf.Tensor:
            return tf.random.stateless_uniform([tf.size(token_ids), count], seed, **options)

    seeds = tf.unstack(tf.random.split(seed, 2))
    draws = draw(2, seeds[0])
    if draw_of_each is not None:
        draws = tf.gather(draws, draw_of_each)
    first, second = tf.unstack(draws, axis=1)
    index = draw(1, seeds[1], minval=0, maxval=len(drawn_ids), dtype=tf.int32)[:, 0]
    drawn = tf.gather(tf.constant(drawn_ids, tf.int32), index)
    kept_rate = 1 - mask_token_rate - random_token_rate
    is_kept = second < (kept_rate / (1 - mask_token_rate) if mask_token_rate < 1 else 1.0)
    return tf.where(first < mask_token_rate, mask_token_id, tf.where(is_kept, token_ids, drawn))
