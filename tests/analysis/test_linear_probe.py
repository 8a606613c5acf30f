import sys

import numpy as np
import pytest

from kerazoo.analysis.linear_probe import feature_scale, fit_linear_probe, one_thread


def examples(count, seed, noise=0.1):
    """Three classes that lie along two features of very different scale."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(3, size=count)
    states = generator.normal(size=(count, 5)).astype("float32") * noise
    states[:, 1] += classes == 1
    states[:, 3] += classes == 2
    return states * np.array([1, 1e-3, 1, 1e3, 1], "float32"), classes


def test_what_is_linear_is_read_off():
    fit = fit_linear_probe(examples(90, 0), examples(41, 1))
    assert fit == (1.0, True)


def test_what_is_not_there_is_not():
    states, classes = examples(150, 0)
    shuffled = np.random.default_rng(2).permutation(classes)
    assert fit_linear_probe((states, shuffled), examples(70, 1)).accuracy < 0.6


def test_training_that_was_stopped_is_told():
    fit = fit_linear_probe(examples(90, 0, 2.0), examples(41, 1), 1e-6, max_iterations=2)
    assert not fit.converged


def test_one_label_is_always_given():
    states, classes = examples(20, 0)
    fit = fit_linear_probe((states, classes * 0), (states, classes))
    assert fit == ((classes == 0).mean(), True)


def test_a_constant_feature_divides_by_nothing():
    states = np.array([[1, 5], [3, 5]], "float32")
    mean, scale = feature_scale(states)
    assert mean.tolist() == [2, 5] and scale.tolist() == [1, 1]


def test_one_thread_computes():
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[analysis\]'"):
        fit_linear_probe(examples(20, 0), examples(20, 1))
