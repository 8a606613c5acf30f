"""Drawing tokens row by row: each row of a batch has its own settings and its own random numbers.

TensorFlow only, for served graphs: core ops, no state, no XLA.
"""

import dataclasses

import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class RowSettings:
    """How the tokens of each row are chosen.

    Args:
        temperature: (batch,) float32; 0 chooses the likeliest token.
        top_k: (batch,) int32, how many of the likeliest tokens are drawn from; 0 is all.
        top_p: (batch,) float32, the share of probability that the likeliest tokens drawn from must
            reach (Holtzman et al. 2019, https://arxiv.org/abs/1904.09751); 1 is all.
    """

    temperature: tf.Tensor
    top_k: tf.Tensor
    top_p: tf.Tensor

    @property
    def is_greedy(self) -> tf.Tensor:
        """Which rows take the likeliest token, (batch,) bool."""
        return (self.temperature <= 0) | (self.top_k == 1)


def uniform_rows(seeds: tf.Tensor, count: int) -> tf.Tensor:
    """Return numbers in [0, 1) that depend on the row's seed alone, (batch, count) float32.

    Args:
        seeds: (batch,) int32.
        count: int, numbers of a row.
    """
    return tf.map_fn(
        lambda seed: tf.random.stateless_uniform((count,), tf.stack([seed, 0])),
        seeds,
        fn_output_signature=tf.TensorSpec((count,), tf.float32),
    )


def choose_tokens(logits: tf.Tensor, settings: RowSettings, uniform: tf.Tensor) -> tf.Tensor:
    """Return the next token of each row, (batch,) int32.

    Args:
        logits: (batch, vocabulary) float32.
        settings: the rows' settings.
        uniform: (batch,) float32, a random number for each row.
    """
    greedy = tf.argmax(logits, axis=-1, output_type=tf.int32)
    drawn = tf.cond(
        tf.reduce_all(settings.is_greedy),
        lambda: greedy,
        lambda: _draw(logits, settings, uniform),
    )
    return tf.where(settings.is_greedy, greedy, drawn)


def _draw(logits: tf.Tensor, settings: RowSettings, uniform: tf.Tensor) -> tf.Tensor:
    """Invert the distribution function of the tokens that are left, likeliest first."""
    vocabulary = tf.shape(logits)[1]
    temperature = tf.where(settings.is_greedy, 1.0, settings.temperature)
    limit = tf.where(settings.top_k > 0, tf.minimum(settings.top_k, vocabulary), vocabulary)
    # Greedy rows need no candidates; the others as many as the widest of them.
    widest = tf.reduce_max(tf.where(settings.is_greedy, 1, limit))
    scaled, tokens = tf.math.top_k(logits / temperature[:, tf.newaxis], k=widest)
    ranks = tf.range(widest)[tf.newaxis, :]
    scaled = tf.where(ranks < limit[:, tf.newaxis], scaled, scaled.dtype.min)
    probabilities = tf.nn.softmax(scaled, axis=-1)
    before = tf.cumsum(probabilities, axis=-1, exclusive=True)
    # The likeliest token always stays, whatever `top_p` is.
    kept = (before < settings.top_p[:, tf.newaxis]) | (ranks == 0)
    mass = tf.cumsum(tf.where(kept, probabilities, 0.0), axis=-1)
    passed = mass <= uniform[:, tf.newaxis] * mass[:, -1:]
    last_kept = tf.reduce_sum(tf.cast(kept, tf.int32), axis=-1) - 1
    rank = tf.minimum(tf.reduce_sum(tf.cast(passed, tf.int32), axis=-1), last_kept)
    return tf.gather(tokens, rank, axis=1, batch_dims=1)
