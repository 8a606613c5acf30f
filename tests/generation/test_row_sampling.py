import numpy as np
import pytest
import tensorflow as tf

from kerazoo.generation.row_sampling import RowSettings, choose_tokens, uniform_rows


def settings(temperature, top_k, top_p):
    return RowSettings(
        tf.constant(temperature, tf.float32),
        tf.constant(top_k, tf.int32),
        tf.constant(top_p, tf.float32),
    )


def distribution(logits, temperature, top_k, top_p):
    """The probabilities by plain NumPy: what is left of the likeliest tokens, made to sum to 1."""
    scaled = np.asarray(logits, "float64") / temperature
    order = np.argsort(-scaled, kind="stable")
    if top_k:
        scaled[order[top_k:]] = -np.inf
    probabilities = np.exp(scaled - scaled.max())
    probabilities /= probabilities.sum()
    before = np.cumsum(probabilities[order]) - probabilities[order]
    probabilities[order[(before >= top_p) & (np.arange(len(order)) > 0)]] = 0
    return probabilities / probabilities.sum()


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(1.0, 0, 1.0), (2.0, 0, 1.0), (0.7, 4, 1.0), (1.3, 0, 0.8), (1.0, 5, 0.6), (1.0, 3, 0.0)],
)
def test_tokens_come_as_often_as_they_should(temperature, top_k, top_p):
    logits = np.array([1.5, -0.3, 0.2, 2.1, -1.0, 0.9, 1.4], "float32")
    # Every random number once, evenly: the share of each token is its probability.
    uniform = (np.arange(20_000, dtype="float32") + 0.5) / 20_000
    rows = len(uniform)
    tokens = choose_tokens(
        tf.constant(np.tile(logits, (rows, 1))),
        settings([temperature] * rows, [top_k] * rows, [top_p] * rows),
        tf.constant(uniform),
    ).numpy()
    share = np.bincount(tokens, minlength=7) / rows
    np.testing.assert_allclose(share, distribution(logits, temperature, top_k, top_p), atol=2e-4)


def test_each_row_has_its_own_settings():
    logits = np.random.default_rng(0).normal(size=(5, 11)).astype("float32")
    uniform = np.array([0.99, 0.5, 0.001, 0.7, 0.999999], "float32")
    given = ([0.0, 1.0, 1.0, 3.0, 0.5], [0, 1, 0, 4, 2], [1.0, 1.0, 0.3, 0.9, 1.0])
    together = choose_tokens(tf.constant(logits), settings(*given), tf.constant(uniform)).numpy()
    for row in range(5):
        alone = choose_tokens(
            tf.constant(logits[row : row + 1]),
            settings(*([values[row]] for values in given)),
            tf.constant(uniform[row : row + 1]),
        )
        assert alone.numpy().tolist() == [together[row]]
    likeliest = logits.argmax(axis=-1)
    assert together[:3].tolist() == likeliest[:3].tolist()  # temperature 0, top_k 1, low u
    assert together[4] in np.argsort(-logits[4])[:2]


def test_random_numbers_depend_on_the_rows_seed_alone():
    seeds = tf.constant([5, 8, 5])
    numbers = uniform_rows(seeds, 13).numpy()
    assert numbers.shape == (3, 13)
    assert numbers[0].tolist() == numbers[2].tolist() != numbers[1].tolist()
    assert uniform_rows(tf.constant([8]), 13).numpy()[0].tolist() == numbers[1].tolist()
    many = uniform_rows(tf.range(500), 40).numpy()
    assert 0 <= many.min() < 0.001 < 0.999 < many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.01)


def test_the_largest_random_number_stays_within_what_is_kept():
    logits = tf.constant([[3.0, 2.0, -50.0, -60.0]])
    token = choose_tokens(logits, settings([1.0], [2], [1.0]), tf.constant([0.99999994]))
    assert token.numpy().tolist() == [1]
