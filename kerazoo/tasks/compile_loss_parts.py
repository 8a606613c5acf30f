"""The losses that `compile` was given, computed of a part of a batch."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
from keras import ops, tree

from kerazoo.axes import Tensor
from kerazoo.tasks.batch_part import BatchPart
from kerazoo.tasks.replicas import replica_count

WEIGHTED_MEAN = "mean_with_sample_weight"
_MEANS = (WEIGHTED_MEAN, "sum_over_batch_size", "mean")


def loss_sums(compile_loss: Any, sample_weight: Any, rows: Tensor) -> dict[str, Tensor]:
    """Return of each loss what its mean is divided by, () float32.

    Args:
        compile_loss: Keras's container of the losses, built; or None.
        sample_weight: the weights of a batch, as `fit` got them.
        rows: () float32, the rows of the batch. Means without weights are divided by a number that
            goes with it.
    """
    sums = {}
    for number, (path, loss, _, _) in enumerate(_entries(compile_loss)):
        weight = _at(path, sample_weight)
        is_weighted = weight is not None and _reduction(loss) == WEIGHTED_MEAN
        sums[_name(number)] = ops.sum(ops.cast(weight, "float32")) if is_weighted else rows
    return sums


@contextmanager
def losses_of_part(compile_loss: Any, part: BatchPart, y_pred: Any) -> Iterator[None]:
    """Compute each loss times its factor while the block runs; see `BatchPart`.

    Keras keeps the mean of each of several losses. It counts a batch by its rows where these are
    known when the step is traced, else as one.

    Args:
        compile_loss: as for `loss_sums`.
        part: what is computed.
        y_pred: the outputs.
    """
    entries = _entries(compile_loss)
    rows = tree.flatten(y_pred)[0].shape[0]
    again: Any = None if rows is None else rows / part.rows_of_mean
    scaled = []
    for number, entry in enumerate(entries):
        kept = None if _reduction(entry.loss) in _MEANS else part.count / replica_count()
        factor = part.factor(_name(number)) if kept is None else kept
        weight = entry.loss_weights
        if again is not None:
            factor, weight = factor / again, again if weight is None else weight * again
        scaled.append(entry._replace(loss=_Times(entry.loss, factor), loss_weights=weight))
    try:
        if entries:
            compile_loss._flat_losses = scaled
        yield
    finally:
        if entries:
            compile_loss._flat_losses = entries


def check_keras() -> None:
    """Raise NotImplementedError if this Keras keeps its losses elsewhere."""
    if not hasattr(keras.src.trainers.compile_utils.CompileLoss("mse"), "_flat_losses"):
        raise NotImplementedError(
            "A batch cannot be computed in parts (several devices, accumulated gradients) with "
            "this release of Keras; install keras 3.15. "
            f"Received: keras={keras.__version__}"
        )


class _Times:
    """A loss times a factor."""

    def __init__(self, loss: Any, factor: Tensor) -> None:
        self._loss = loss
        self._factor = factor

    def __call__(self, *arguments: Any) -> Tensor:
        return self._loss(*arguments) * self._factor


def _entries(compile_loss: Any) -> list[Any]:
    return [] if compile_loss is None else list(compile_loss._flat_losses)


def _reduction(loss: Any) -> Any:
    return getattr(loss, "reduction", None)


def _name(number: int) -> str:
    return f"loss_{number}"


def _at(path: tuple[Any, ...], values: Any) -> Any:
    if not tree.is_nested(values):
        return values
    for key in path:
        values = values[key]
    return values
