"""The replicas of a model under a strategy of TensorFlow: how many, and sums over them."""

from typing import Any

import keras
import tensorflow as tf

from kerazoo.axes import Tensor


def replica_count() -> int:
    """Return how many replicas compute the current step together; 1 without a strategy."""
    if keras.config.backend() != "tensorflow":
        return 1
    count: int = tf.distribute.get_strategy().num_replicas_in_sync
    return count


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


def is_multi_worker() -> bool:
    """Return whether the replicas are on several machines."""
    strategy = tf.distribute.get_strategy()
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
