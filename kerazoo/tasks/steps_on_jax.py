"""Steps on JAX that compute a batch as micro-batches, one after the other."""

from collections.abc import Mapping
from typing import Any

import jax
import keras
from jax import numpy as jnp
from keras import tree

from kerazoo.axes import Tensor
from kerazoo.tasks.batch_part import row_count

State = tuple[Any, Any, Any, Any]
"""Trainable and other variables, those of the optimizer, the sums of metrics."""


def train_step(task: Any, state: State, data: Any) -> tuple[dict[str, Any], State]:
    """Train on a batch; see `keras.Model.train_step`.

    Micro-batch i has the rows i, i + n, i + 2 n, …, so that each device has its share of all.

    Args:
        task: a compiled `WholeBatch`.
        state: the variables.
        data: the batch, as `fit` got it.

    Returns:
        The metrics and the new variables.
    """
    task.build_losses(data)
    trainable, others, of_optimizer, sums = state
    whole = task.loss_weights(*keras.utils.unpack_x_y_sample_weight(data))
    rows = row_count(data)
    size = -(-rows // task.micro_batches)
    turns, rest = divmod(rows, size)
    count = turns + bool(rest)

    def add(carried: Any, part: Any) -> tuple[Any, None]:
        gradients, others, sums = carried
        added, others, sums = _gradients(
            task, (trainable, others, of_optimizer, sums), part, whole, count
        )
        return (tree.map_structure(jnp.add, gradients, added), others, sums), None

    carried = ([jnp.zeros_like(value) for value in trainable], others, sums)
    carried, _ = jax.lax.scan(add, carried, tree.map_structure(_turns(turns, size), data))
    if rest:
        last = tree.map_structure(lambda v: None if v is None else v[turns * size :], data)
        carried, _ = add(carried, last)
    gradients, others, sums = carried
    trainable, of_optimizer = task.optimizer.stateless_apply(of_optimizer, gradients, trainable)
    mapping = list(zip(task.metrics_variables, sums, strict=True))
    with keras.StatelessScope(state_mapping=mapping):
        logs = task.get_metrics_result()
    return logs, (trainable, others, of_optimizer, sums)


def _turns(turns: int, size: int) -> Any:
    """Return what makes (turns, size, …) of (rows, …)."""

    def of_turns(values: Any) -> Any:
        if values is None:
            return None
        first = values[: turns * size]
        return jnp.moveaxis(first.reshape((size, turns, *values.shape[1:])), 1, 0)

    return of_turns


def _gradients(
    task: Any, state: State, data: Any, whole: Mapping[str, Tensor], count: int
) -> tuple[Any, Any, Any]:
    """Return what a micro-batch adds to the gradients, other variables, and sums of metrics."""
    trainable, others, of_optimizer, sums = state
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
    weights = task.loss_weights(x, y, sample_weight)

    def share(trainable: Any) -> tuple[Tensor, Any]:
        loss, told = task.compute_loss_and_updates(
            trainable,
            others,
            sums,
            x,
            y,
            sample_weight,
            training=True,
            optimizer_variables=of_optimizer,
        )
        return loss / count, told

    with task.computed_as(weights, whole, count) as part:
        (_, told), gradients = jax.value_and_grad(share, has_aux=True)(trainable)
    loss, y_pred, others, sums = told
    mapping = list(zip(task.metrics_variables, sums, strict=True))
    with keras.StatelessScope(state_mapping=mapping) as scope:
        task._loss_tracker.update_state(loss, sample_weight=part.rows_of_mean)
        task.compute_metrics(x, y, y_pred, sample_weight)
    sums = [_value(scope, variable) for variable in task.metrics_variables]
    return gradients, others, sums


def _value(scope: keras.StatelessScope, variable: keras.Variable) -> Any:
    return scope.get_current_value(variable)
