import numpy as np

from kerazoo.analysis.control_labels import control_labels

TYPES = ["the", "film", "the", "bad", "film", "the"] * 50


def test_a_type_has_one_label():
    classes = np.arange(len(TYPES)) % 4
    found = control_labels(TYPES, classes, seed=3)
    assert len({(kind, number) for kind, number in zip(TYPES, found, strict=True)}) == 3
    np.testing.assert_array_equal(found, control_labels(TYPES, classes, seed=3))
    seeds = {tuple(control_labels(TYPES, classes, seed)[:4]) for seed in range(9)}
    assert len(seeds) > 3


def test_labels_have_the_shares_of_the_real_ones():
    classes = (np.arange(4000) % 10 == 0).astype("int64")
    found = control_labels(range(4000), classes, seed=0)
    assert 0.07 < found.mean() < 0.13
    assert (found[classes == 1] == 1).mean() < 0.2
