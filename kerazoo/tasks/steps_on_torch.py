"""Steps on PyTorch that compute a batch as micro-batches, one after the other."""

from typing import Any

import keras
import torch
from keras import tree

from kerazoo.tasks.batch_part import row_count


def train_step(task: Any, data: Any) -> dict[str, Any]:
    """Train on a batch; see `keras.Model.train_step`.

    Args:
        task: a compiled `WholeBatch`.
        data: the batch, as `fit` got it.

    Returns:
        The metrics.
    """
    task.build_losses(data)
    whole = task.loss_weights(*keras.utils.unpack_x_y_sample_weight(data))
    rows = row_count(data)
    size = -(-rows // task.micro_batches)
    begins = range(0, rows, size)
    task.zero_grad()
    for begin in begins:
        _add_gradients(task, _rows(data, begin, begin + size), whole, len(begins))
    weights = task.trainable_weights[:]
    with torch.no_grad():
        task.optimizer.apply([weight.value.grad for weight in weights], weights)
    results: dict[str, Any] = task.get_metrics_result()
    return results


def _rows(data: Any, begin: int, end: int) -> Any:
    return tree.map_structure(lambda v: None if v is None else v[begin:end], data)


def _add_gradients(task: Any, data: Any, whole: Any, count: int) -> None:
    """Add what a micro-batch adds to the gradients, and keep the loss and the metrics."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    weights = task.loss_weights(x, y, sample_weight)
    with task.computed_as(weights, whole, count) as part:
        y_pred = task(x, training=True)
        loss = task.compute_loss(x, y, y_pred, sample_weight, training=True)
        task._loss_tracker.update_state(loss.detach(), sample_weight=part.rows_of_mean)
    task.optimizer.scale_loss(loss / count).backward()
    task.compute_metrics(x, y, y_pred, sample_weight)
