"""A linear classifier over a learnt mix of all layers (Peters et al. 2018; Tenney et al. 2019)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kerazoo.analysis.linear_probe import feature_scale


@dataclass(frozen=True)
class ScalarMix:
    """A trained mix of layers and its classifier.

    Args:
        weights: (layers,) float64, the share of each layer; they sum to 1.
        kernel: (hidden, classes) float64.
        bias: (classes,) float64.
        scales: for each layer mean and standard deviation of its features.
    """

    weights: np.ndarray
    kernel: np.ndarray
    bias: np.ndarray
    scales: list[tuple[np.ndarray, np.ndarray]]

    def accuracy(self, states: np.ndarray, classes: np.ndarray) -> float:
        """Return the share of examples that are classified right.

        Args:
            states: (layers, examples, hidden) float.
            classes: (examples,) int.
        """
        mixed = np.tensordot(self.weights.astype("float32"), _scaled(states, self.scales), 1)
        predicted = (mixed @ self.kernel + self.bias).argmax(axis=-1)
        return float((predicted == classes).mean())


def fit_scalar_mix(
    states: np.ndarray,
    classes: np.ndarray,
    num_classes: int,
    regularization: float = 1.0,
    max_iterations: int = 200,
) -> ScalarMix:
    """Train softmax(a) over the layers together with a linear classifier on Σ softmax(a)_l h_l.

    Every layer's features are scaled to mean 0 and variance 1 first, so that the shares compare.

    Args:
        states: (layers, examples, hidden) float.
        classes: (examples,) int.
        num_classes: int.
        regularization: float, as for `fit_linear_probe`.
        max_iterations: int, the most steps of L-BFGS.

    Raises:
        ModuleNotFoundError: if SciPy is not installed.
    """
    minimize = _minimize()
    scales = [feature_scale(layer) for layer in states]
    scaled = _scaled(states, scales)
    layers, _, hidden = scaled.shape
    start = np.zeros(layers + hidden * num_classes + num_classes)
    found = minimize(
        mix_loss,
        start,
        args=(scaled, classes, num_classes, regularization),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations},
    )
    scores, kernel, bias = _parts(found.x, layers, hidden, num_classes)
    return ScalarMix(_softmax(scores), kernel, bias, scales)


def mix_loss(
    parameters: np.ndarray,
    states: np.ndarray,
    classes: np.ndarray,
    num_classes: int,
    regularization: float,
) -> tuple[float, np.ndarray]:
    """Return the loss and its gradient.

    The loss is the mean cross-entropy plus regularization / (2 examples) · |kernel|².

    Args:
        parameters: the layers' scores, the kernel row by row, and the bias.
        states: (layers, examples, hidden) float, scaled.
        classes: (examples,) int.
        num_classes: int.
        regularization: float.
    """
    layers, examples, hidden = states.shape
    scores, kernel, bias = _parts(parameters, layers, hidden, num_classes)
    shares = _softmax(scores)
    mixed = np.tensordot(shares.astype(states.dtype), states, 1)
    logits = mixed @ kernel + bias
    logits -= logits.max(axis=-1, keepdims=True)
    log_total = np.log(np.exp(logits).sum(axis=-1))
    rows = np.arange(examples)
    penalty = regularization / examples
    loss = (log_total - logits[rows, classes]).mean() + penalty / 2 * (kernel**2).sum()
    slope = np.exp(logits - log_total[:, np.newaxis])
    slope[rows, classes] -= 1
    slope /= examples
    of_mixed = (slope @ kernel.T).astype(states.dtype)
    of_shares = np.array([np.vdot(of_mixed, layer) for layer in states])
    of_scores = shares * (of_shares - shares @ of_shares)
    of_kernel = mixed.T @ slope + penalty * kernel
    return float(loss), np.concatenate([of_scores, of_kernel.ravel(), slope.sum(axis=0)])


def _parts(
    parameters: np.ndarray, layers: int, hidden: int, num_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores, kernel, bias = np.split(parameters, [layers, layers + hidden * num_classes])
    return scores, kernel.reshape(hidden, num_classes), bias


def _scaled(states: np.ndarray, scales: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    return np.stack(
        [(layer - mean) / scale for layer, (mean, scale) in zip(states, scales, strict=True)]
    )


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def _minimize() -> Any:
    try:
        from scipy.optimize import minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Probes need SciPy: pip install 'kerazoo[analysis]'") from error
    return minimize
