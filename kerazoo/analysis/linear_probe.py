"""A linear classifier on frozen states, by scikit-learn."""

import warnings
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from kerazoo.checks import check_positive


class ProbeFit(NamedTuple):
    """How well labels can be read off states.

    Attributes:
        accuracy: float, on the held-out examples.
        converged: bool, whether the classifier's training came to an end.
    """

    accuracy: float
    converged: bool


def fit_linear_probe(
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    regularization: float = 1.0,
    max_iterations: int = 1000,
) -> ProbeFit:
    """Train multinomial logistic regression on states and measure it on others.

    Every feature is shifted and scaled to mean 0 and variance 1 over the training examples, so that
    one strength of regularisation suits all layers.

    Args:
        train: states, (examples, hidden) float, and class numbers, (examples,) int.
        test: the same, held out.
        regularization: float, the weight of the squared norm of the classifier's weights, halved;
            scikit-learn's 1 / C.
        max_iterations: int, the most steps of L-BFGS.

    Returns:
        How well it does; of training examples with one label only, that of always giving it.

    Raises:
        ModuleNotFoundError: if scikit-learn is not installed.
    """
    check_positive("regularization", regularization)
    if len(np.unique(train[1])) == 1:
        return ProbeFit(float((test[1] == train[1][0]).mean()), converged=True)
    classifier_class, warning = _logistic_regression()
    mean, scale = feature_scale(train[0])
    classifier = classifier_class(C=1 / regularization, max_iter=max_iterations)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", warning)
        classifier.fit((train[0] - mean) / scale, train[1])
    predicted = classifier.predict((test[0] - mean) / scale)
    return ProbeFit(
        accuracy=float((predicted == test[1]).mean()),
        converged=not any(issubclass(w.category, warning) for w in raised),
    )


def feature_scale(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each feature, (hidden,) float32; never 0.

    Args:
        states: (examples, hidden) float.
    """
    mean = states.mean(axis=0, dtype="float64").astype("float32")
    scale = states.std(axis=0, dtype="float64").astype("float32")
    return mean, np.where(scale > 1e-6, scale, 1).astype("float32")


def one_thread() -> AbstractContextManager[object]:
    """Return a block in which NumPy and scikit-learn compute on one thread.

    Their matrices are small here: several threads wait for each other, and take longer than one.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Probes need scikit-learn: pip install 'kerazoo[analysis]'"
        ) from error
    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def _logistic_regression() -> tuple[Any, type[Warning]]:
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Probes need scikit-learn: pip install 'kerazoo[analysis]'"
        ) from error
    return LogisticRegression, ConvergenceWarning
