"""The replicas of a model under a strategy of TensorFlow: how many, and sums over them."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import Tensor


def replica_count() -> int:
    """Return how many replicas compute the current step together; 1 without a strategy."""
    if keras.config.backend() != "tensorflow":
        return 1
    count: int = tf.distribute.get_strategy().num_replicas_in_sync
    return count


def strategy_of_several(model: keras.Model) -> Any:
    """Return a model's strategy of TensorFlow, None if it has one replica."""
    strategy = getattr(model, "distribute_strategy", None)
    is_alone = strategy is None or strategy.num_replicas_in_sync == 1
    return None if is_alone else strategy


def summed(values: Any) -> Any:
    """Return the sums over all replicas of a nest of tensors; each replica gets the same ones."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return values
    if is_multi_worker():
        # Sums over machines arrive where a tensor lies, and one that was just made lies nowhere.
        devices = context.strategy.extended.worker_devices
        number = tf.get_static_value(context.replica_id_in_sync_group)
        with tf.device(devices[number % len(devices)]):
            values = tf.nest.map_structure(tf.identity, values)
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)


def are_all_finite(are_finite: Tensor) -> Tensor:
    """Return whether a flag, () bool, is set on all replicas."""
    return summed(tf.cast(tf.logical_not(are_finite), "int32")) == 0


def results_of_all(model: keras.Model) -> dict[str, Any]:
    """Return the metrics of a model as they are over the batches of all replicas.

    Each replica keeps sums of its own, of which Keras would show the mean of the results.
    """
    if replica_count() == 1:
        return model.get_metrics_result()
    variables = [v for v in model.metrics_variables if v.aggregation == "sum"]
    sums = summed([tf.convert_to_tensor(variable.value) for variable in variables])
    with keras.StatelessScope(state_mapping=list(zip(variables, sums, strict=True))):
        results = model.get_metrics_result()
    if is_multi_worker():
        # Keras takes the mean over workers along an axis.
        return {name: tf.reshape(value, (1,)) for name, value in results.items()}
    return dict(results)


def sums_of_replicas(model: keras.Model) -> list[np.ndarray]:
    """Return the variables of a model's metrics as each replica has them, (replicas, …).

    All processes have to call it together.
    """
    variables = model.metrics_variables
    strategy = strategy_of_several(model)
    if strategy is None or not variables:
        return [keras.ops.convert_to_numpy(variable)[None] for variable in variables]
    count = strategy.num_replicas_in_sync

    @tf.function
    def gather() -> list[Tensor]:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return summed([_at_place(variable.value, number, count) for variable in variables])

    first = strategy.experimental_local_results(strategy.run(gather))[0]
    return [value.numpy() for value in first]


def add_to_replicas(model: keras.Model, sums: Sequence[np.ndarray]) -> None:
    """Add to the variables of a model's metrics what replicas have had.

    Args:
        model: a compiled model whose metrics have their variables.
        sums: from `sums_of_replicas`. Those of another number of replicas go to the first one.
    """
    variables = model.metrics_variables
    strategy = strategy_of_several(model)
    count = 1 if strategy is None else strategy.num_replicas_in_sync
    pairs = list(zip(variables, [_for_replicas(value, count) for value in sums], strict=True))
    if strategy is None:
        for variable, (value,) in pairs:
            variable.assign_add(value)
        return

    def add() -> None:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        for variable, values in pairs:
            variable.assign_add(tf.gather(values, number))

    strategy.run(tf.function(add))


def is_multi_worker() -> bool:
    """Return whether the replicas are on several machines."""
    strategy = tf.distribute.get_strategy()
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)


def _at_place(value: Tensor, number: Tensor, count: int) -> Tensor:
    """Return zeros for each of several replicas, and the value for one of them, (count, …)."""
    value = tf.convert_to_tensor(value)
    return tf.scatter_nd([[number]], value[None], [count, *value.shape])


def _for_replicas(sums: np.ndarray, count: int) -> np.ndarray:
    """Return sums for so many replicas."""
    if len(sums) == count:
        return sums
    whole = sums.sum(0, dtype=sums.dtype, keepdims=True)
    return np.concatenate([whole, np.zeros((count - 1, *whole.shape[1:]), sums.dtype)])
