"""Steps on TensorFlow whose batch is divided among replicas, or into micro-batches, or both."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf
from keras import ops, tree

from kerazoo.axes import Tensor
from kerazoo.tasks.batch_part import row_count
from kerazoo.tasks.replicas import replica_count, results_of_all, summed


def train_step(task: Any, data: Any) -> dict[str, Any]:
    """Train on a replica's rows of a batch; see `keras.Model.train_step`.

    Args:
        task: a compiled `WholeBatch`.
        data: the rows, as `fit` got them; there may be none.

    Returns:
        The metrics over all replicas.
    """
    with tf.init_scope():
        task.build_losses(data)
    whole = summed(_weights(task, data))
    if task.micro_batches == 1:
        gradients = _gradients(task, data, whole, replica_count())
    else:
        gradients = _gradients_in_turns(task, data, whole)
    task.optimizer.apply(gradients, task.trainable_weights)
    return results_of_all(task)


def test_step(task: Any, data: Any) -> dict[str, Any]:
    """Measure a replica's rows of a batch; see `keras.Model.test_step`."""
    with tf.init_scope():
        task.build_losses(data)
    whole = summed(_weights(task, data))
    _loss(task, data, whole, replica_count(), training=False)
    return results_of_all(task)


def at_least_a_row(data: Any) -> Any:
    """Return rows, or one of zeros if there are none, as layers are not made for that."""

    def filled(values: Any) -> Any:
        rows = None if values is None else values.shape[0]
        if values is None or rows:
            return values
        missing = 1 if rows == 0 else tf.cast(tf.equal(tf.shape(values)[0], 0), tf.int32)
        return tf.pad(values, [[0, missing]] + [[0, 0]] * (values.shape.rank - 1))

    return tree.map_structure(filled, data)


def first_rows(data: Any, rows: Any) -> Any:
    """Return the first rows of a nest of tensors."""
    return tree.map_structure(lambda values: None if values is None else values[:rows], data)


def _weights(task: Any, data: Any) -> dict[str, Tensor]:
    """Return the weights of rows; of none zeros."""
    weights: dict[str, Tensor] = task.loss_weights(*keras.utils.unpack_x_y_sample_weight(data))
    return weights


def _loss(
    task: Any,
    data: Any,
    whole: Mapping[str, Tensor],
    count: Any,
    training: bool,
) -> Tensor:
    """Compute the loss of a part, keep it and the metrics, and return it.

    Args:
        task: the task.
        data: the part's rows.
        whole: the weights of all replicas' rows.
        count: parts of all replicas together.
        training: whether it is a step of training.
    """
    weights, rows = _weights(task, data), row_count(data)
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(at_least_a_row(data))
    with task.computed_as(weights, whole, count) as part:
        y_pred = task(x, training=training)
        loss = task.compute_loss(x, y, y_pred, sample_weight, training=training)
        loss = loss * replica_count()
        task._loss_tracker.update_state(loss, sample_weight=part.rows_of_mean)
    # Metrics without weights count rows.
    task.compute_metrics(*first_rows((x, y, y_pred, sample_weight), rows))
    return loss


def _gradients(task: Any, data: Any, whole: Mapping[str, Tensor], count: Any) -> list[Any]:
    """Return what a part adds to the gradient of the whole batch."""
    with tf.GradientTape() as tape:
        loss = task.optimizer.scale_loss(_loss(task, data, whole, count, training=True) / count)
    gradients: list[Any] = tape.gradient(loss, task.trainable_weights)
    return gradients


def _gradients_in_turns(task: Any, data: Any, whole: Mapping[str, Tensor]) -> list[Any]:
    """Return the same, adding up one micro-batch after the other."""
    rows = row_count(data)
    size = _at_least_one(-(-rows // task.micro_batches))
    turns = _at_least_one(-(-rows // size))
    count = tf.cast(turns * replica_count(), "float32")
    is_known: list[bool] = []

    def add(turn: Tensor, *sums: Tensor) -> tuple[Tensor, ...]:
        gradients = _gradients(task, _rows_of_turn(data, turn, rows, size), whole, count)
        is_known[:] = [gradient is not None for gradient in gradients]
        added = [
            total if gradient is None else total + tf.convert_to_tensor(gradient)
            for total, gradient in zip(sums, gradients, strict=True)
        ]
        return turn + 1, *added

    zeros = [tf.zeros(weight.shape, weight.dtype) for weight in task.trainable_weights]
    _, *sums = tf.while_loop(
        lambda turn, *sums: turn < turns, add, (tf.constant(0), *zeros), parallel_iterations=1
    )
    return [total if known else None for total, known in zip(sums, is_known, strict=True)]


def _rows_of_turn(data: Any, turn: Tensor, rows: Any, size: Any) -> Any:
    """Return the rows of a turn; all but the last have `size`."""
    begin = turn * size
    if not isinstance(rows, int) or rows % size:
        size = tf.minimum(size, rows - begin)

    def taken(values: Any) -> Any:
        # XLA knows no "all that are left" beside a number that it finds out in the loop.
        others = ops.shape(values)[1:]
        return tf.slice(values, [begin] + [0] * len(others), [size, *others])

    return tree.map_structure(lambda values: None if values is None else taken(values), data)


def _at_least_one(number: Any) -> Any:
    return max(number, 1) if isinstance(number, int) else tf.maximum(number, 1)
