import numpy as np
import tensorflow as tf
from masking_batches import chi_square

from kerazoo.preprocessing.masking.replace import replace_masked

COUNT = 1_000_000
MASK, DRAWN = 4, (11, 12, 13, 14, 15, 16, 17)
IDS = tf.fill([COUNT], 9)


def test_a_million_tokens_are_eighty_ten_ten():
    new = replace_masked(IDS, tf.constant([3, 1]), MASK, DRAWN).numpy()
    counts = [(new == wanted).sum() for wanted in (MASK, 9, *DRAWN)]
    assert sum(counts) == COUNT
    expected = [0.8 * COUNT, 0.1 * COUNT, *[0.1 * COUNT / 7] * 7]
    assert chi_square(counts, expected) < 26.1  # 0.999 quantile, 8 degrees of freedom


def test_other_shares():
    new = replace_masked(IDS, tf.constant([3, 1]), MASK, DRAWN, 0.5, 0.2).numpy()
    counts = [(new == MASK).sum(), (new == 9).sum(), np.isin(new, DRAWN).sum()]
    assert chi_square(counts, [0.5 * COUNT, 0.3 * COUNT, 0.2 * COUNT]) < 13.8
    masked = replace_masked(IDS[:99], tf.constant([3, 1]), MASK, DRAWN, 1.0, 0.0)
    assert (masked == MASK).numpy().all()
    kept = replace_masked(IDS[:99], tf.constant([3, 1]), MASK, DRAWN, 0.0, 0.0)
    assert (kept == 9).numpy().all()


def test_tokens_of_one_word_may_share_their_draw():
    draws = tf.range(COUNT) // 4
    new = replace_masked(IDS, tf.constant([3, 1]), MASK, DRAWN, draw_of_each=draws).numpy()
    kinds = np.where(new == MASK, 0, np.where(new == 9, 1, 2)).reshape(-1, 4)
    assert (kinds == kinds[:, :1]).all()
    words = np.bincount(kinds[:, 0])
    assert chi_square(words, [200_000, 25_000, 25_000]) < 13.8
    # The random tokens themselves are drawn one by one.
    drawn = new.reshape(-1, 4)[kinds[:, 0] == 2]
    assert (drawn != drawn[:, :1]).any(axis=1).mean() > 0.99
    alone = replace_masked(IDS, tf.constant([3, 1]), MASK, DRAWN).numpy()
    kinds = np.where(alone == MASK, 0, 1).reshape(-1, 4)
    assert 0.3 < (kinds == kinds[:, :1]).all(axis=1).mean() < 0.5  # 0.8⁴ + 0.2⁴ = 0.41
