import numpy as np
from keras import ops

from kerazoo.layers.front import gathered_to_front


def test_what_counts_stands_at_the_front_in_order():
    generator = np.random.default_rng(3)
    mask = generator.integers(0, 2, (5, 9)).astype("float32") * 0.25
    mask[1], mask[3] = 0, 1
    tags = generator.integers(0, 7, (5, 9)).astype("int32")
    scores = generator.normal(size=(5, 9, 4)).astype("float32")
    front, moved, moved_scores = map(ops.convert_to_numpy, gathered_to_front(mask, tags, scores))
    assert moved.shape == tags.shape
    for row in range(5):
        kept = mask[row] > 0
        np.testing.assert_array_equal(front[row], np.arange(9) < kept.sum())
        np.testing.assert_array_equal(moved[row][: kept.sum()], tags[row][kept])
        np.testing.assert_array_equal(moved_scores[row][: kept.sum()], scores[row][kept])
