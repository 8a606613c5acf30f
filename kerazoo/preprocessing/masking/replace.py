"""What stands in the place of a chosen token: [MASK], the token itself, or a random one."""

from collections.abc import Sequence

import tensorflow as tf


def replace_masked(
    token_ids: tf.Tensor,
    chosen: tf.Tensor,
    seed: tf.Tensor,
    mask_token_id: int,
    drawn_ids: Sequence[int],
    mask_token_rate: float = 0.8,
    random_token_rate: float = 0.1,
    draw_of_each: tf.Tensor | None = None,
) -> tf.Tensor:
    """Replace chosen tokens, each by a draw of its own: mask if u < 0.8, else keep if u' < 0.5.

    Args:
        token_ids: (batch, seq) int32.
        chosen: (chosen, 2) int64, row and position of each chosen token.
        seed: (2,) int32.
        mask_token_id: int, the id of [MASK].
        drawn_ids: the ids from which a random token is drawn.
        mask_token_rate: float, the share that becomes [MASK].
        random_token_rate: float, the share that becomes a random token; the rest is kept.
        draw_of_each: (chosen,) int32, at most the number of chosen tokens less one: tokens of the
            same number share their draw (but not the random token); None for a draw each.

    Returns:
        (batch, seq) int32.
    """
    count = tf.shape(chosen)[:1]
    seeds = tf.random.split(seed, 2)
    first, second = tf.unstack(tf.random.stateless_uniform(tf.concat([[2], count], 0), seeds[0]))
    if draw_of_each is not None:
        first, second = tf.gather(first, draw_of_each), tf.gather(second, draw_of_each)
    kept_rate = 1 - mask_token_rate - random_token_rate
    is_masked = first < mask_token_rate
    is_kept = second < kept_rate / max(kept_rate + random_token_rate, 1e-9)
    there = tf.gather_nd(token_ids, chosen)
    index = tf.random.stateless_uniform(count, seeds[1], 0, len(drawn_ids), tf.int32)
    drawn = tf.gather(tf.constant(drawn_ids, tf.int32), index)
    new_ids = tf.where(is_masked, mask_token_id, tf.where(is_kept, there, drawn))
    return tf.tensor_scatter_nd_update(token_ids, chosen, new_ids)
