"""Mean and confidence interval of arrays that come one after the other."""

from typing import Any

import numpy as np

from kerazoo.checks import check_positive, check_rate


class RunningMean:
    """The mean of arrays of one shape, element by element, and how sure it is (Welford 1962).

    NaN elements are left out, each on its own.

    Args:
        shape: tuple of int, the shape of the arrays.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        """Begin without any."""
        self.count = np.zeros(shape, "int64")
        self._mean = np.zeros(shape)
        self._squares = np.zeros(shape)

    def add(self, values: np.ndarray) -> None:
        """Take one more array into account."""
        counted = ~np.isnan(values)
        self.count += counted
        difference = np.where(counted, values - self._mean, 0.0)
        self._mean += difference / np.maximum(self.count, 1)
        self._squares += difference * np.where(counted, values - self._mean, 0.0)

    @property
    def mean(self) -> np.ndarray:
        """The mean of each element, float64; NaN where there is none."""
        return np.where(self.count > 0, self._mean, np.nan)

    def half_width(self, confidence: float = 0.95) -> np.ndarray:
        """Return half the width of the interval of Student's t around each mean.

        Args:
            confidence: float, the share of such intervals that hold the true mean.

        Returns:
            float64; NaN where there are fewer than two values.

        Raises:
            ModuleNotFoundError: if SciPy is not installed.
        """
        check_positive("confidence", confidence)
        check_rate("confidence", confidence)
        degrees = np.maximum(self.count - 1, 1)
        error = np.sqrt(self._squares / degrees / np.maximum(self.count, 1))
        quantile = _distributions().t.ppf((1 + confidence) / 2, degrees)
        return np.where(self.count > 1, error * quantile, np.nan)


def _distributions() -> Any:
    try:
        from scipy import stats
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Confidence intervals need SciPy: pip install 'kerazoo[analysis]'"
        ) from error
    return stats
