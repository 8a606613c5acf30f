"""A part of a batch that is computed on its own, and what it adds to the means of the whole."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from keras import ops, tree

from kerazoo.axes import Tensor

ROWS = "rows"
"""The weight that a part of a batch has by its rows."""


@dataclasses.dataclass(frozen=True)
class BatchPart:
    """The rows of a replica, or one of several micro-batches.

    A loss is a sum of means, each Σ w l / Σ w over a whole batch. Of a part, its own mean times
    `factor` is computed; the mean of that over all parts is the whole batch's mean.

    Args:
        weights: of each mean the sum of the part's weights, () float32; under `ROWS` its rows.
        whole: the same of the whole batch.
        count: parts of the batch, int or () float32.
    """

    weights: Mapping[str, Tensor]
    whole: Mapping[str, Tensor]
    count: Any

    def factor(self, name: str) -> Tensor:
        """Return the part's share in a mean times the number of parts; 0 if nothing has weight."""
        return ops.divide_no_nan(self.weights[name], self.whole[name]) * self.count

    @property
    def rows_of_mean(self) -> Tensor:
        """What the part's means count in a mean over batches: rows of the batch / parts."""
        return self.whole[ROWS] / self.count


def row_count(x: Any) -> Any:
    """Return the rows of inputs: int where it is known, else () int32."""
    return ops.shape(next(leaf for leaf in tree.flatten(x) if leaf is not None))[0]
