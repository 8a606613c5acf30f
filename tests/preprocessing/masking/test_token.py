import numpy as np
import tensorflow as tf
from masking_batches import chi_square

from kerazoo.preprocessing.masking.token import select_tokens


def test_each_row_has_exactly_its_count_of_candidates():
    generator = np.random.default_rng(2)
    candidates = generator.random((200, 37)) < 0.6
    candidates[:9] = False
    candidates[9:30, 5:] = False
    counts = generator.integers(1, 10, 200)
    chosen = select_tokens(tf.constant(candidates), tf.constant(counts, tf.int32), 9, [1, 2])
    is_chosen = chosen.mask(candidates).numpy()
    assert (is_chosen.sum(axis=1) == np.minimum(counts, candidates.sum(axis=1))).all()
    assert not (is_chosen & ~candidates).any()
    assert len(set(chosen.numbers.numpy().tolist())) == is_chosen.sum()


def test_positions_are_chosen_equally_often():
    candidates = np.ones((50_000, 37), bool)
    candidates[:, [0, 20]] = False
    chosen = select_tokens(tf.constant(candidates), tf.fill([50_000], 7), 7, [3, 4])
    counts = chosen.mask(candidates).numpy().sum(axis=0)
    assert counts[0] == counts[20] == 0
    # Positions of a row are drawn without replacement, which makes the statistic smaller by 28/34.
    statistic = chi_square(np.delete(counts, [0, 20]), [10_000] * 35) / (28 / 34)
    assert statistic < 65  # 0.999 quantile, 34 degrees of freedom
