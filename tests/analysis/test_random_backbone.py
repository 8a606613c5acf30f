import random

import keras
import numpy as np

from kerazoo.analysis.random_backbone import random_backbone


def matrix(backbone):
    return keras.ops.convert_to_numpy(backbone.transformer_layers[1].attention.query.kernel)


def test_the_seed_makes_the_weights(tiny_backbone):
    before = random.getstate()
    first, again, other = (random_backbone(tiny_backbone, seed) for seed in (3, 3, 4))
    assert random.getstate() == before
    assert first.config == tiny_backbone.config and first is not tiny_backbone
    np.testing.assert_array_equal(matrix(first), matrix(again))
    assert np.abs(matrix(first) - matrix(other)).max() > 0.01
    assert np.abs(matrix(first) - matrix(tiny_backbone)).max() > 0.01
