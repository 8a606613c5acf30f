"""The mean cross-entropy of answers that come as probabilities."""

import math
from collections.abc import Iterable

# Of float32: the probability of a true label may be rounded to 0.
_LEAST_PROBABILITY = 1e-38


def mean_cross_entropy(probabilities: Iterable[float]) -> float:
    """Return the mean of −ln p, in nats.

    Args:
        probabilities: of the true label of each row; at least one row.
    """
    losses = [-math.log(max(p, _LEAST_PROBABILITY)) for p in probabilities]
    return sum(losses) / len(losses)
