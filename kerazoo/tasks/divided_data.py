"""Batches that are divided among the replicas of a strategy of TensorFlow, or devices of JAX."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import keras
import tensorflow as tf
from keras import tree

from kerazoo.tasks.replicas import strategy_of_several
from kerazoo.tasks.shared_batches import SharedBatches
from kerazoo.tasks.static_batches import static_batches
from kerazoo.tasks.untuned import untuned
from kerazoo.without_autograph import without_autograph

# It goes before a model of KerasHub, whose methods it calls, hence Any.
_ModelBase: Any = object


class DividedData(_ModelBase):
    """Gives each replica its rows of each batch, in order; see `divided`.

    Keras leaves it to the strategy, which keeps to the rows of a batch only where it finds out
    their number, and gives a replica without rows some of another width.

    Attributes:
        static_rows: int, rows that every batch gets in training and evaluation, as on a TPU; None
            leaves them as they are. See `static_batches`.
    """

    static_rows: int | None = None

    def fit(
        self, x: Any = None, *, validation_data: Any = None, class_weight: Any = None, **kwargs: Any
    ) -> keras.callbacks.History:
        """Train; see `keras.Model.fit`. It takes `SharedBatches` too."""
        x, validation_data = untuned(x), untuned(validation_data)
        if isinstance(x, SharedBatches):
            kwargs["shuffle"] = False  # they have an order
            if class_weight or self.static_rows is not None:
                x = x.whole()
        strategy = self._dividing_strategy(x)
        if strategy is None and self.static_rows is None:
            with self._shared_on_jax(x) as x:
                return super().fit(
                    x=x, validation_data=validation_data, class_weight=class_weight, **kwargs
                )
        if isinstance(validation_data, tf.data.Dataset):
            validation_data = self._measured(validation_data, strategy)
        kwargs.pop("validation_split", None)
        x = self._measured(x, strategy, class_weight)
        return keras.Model.fit(self, x, validation_data=validation_data, **kwargs)

    def evaluate(self, x: Any = None, **kwargs: Any) -> Any:
        """Measure; see `keras.Model.evaluate`."""
        x = untuned(x)
        strategy = self._dividing_strategy(x)
        is_of_fit = "_use_cached_eval_dataset" in kwargs  # which has prepared the rows
        if is_of_fit or (strategy is None and self.static_rows is None):
            with self._divided_on_jax():
                return super().evaluate(x=x, **kwargs)
        return keras.Model.evaluate(self, self._measured(x, strategy), **kwargs)

    def predict(self, x: Any = None, **kwargs: Any) -> Any:
        """Compute outputs; see `keras.Model.predict`."""
        x = untuned(x)
        strategy = self._dividing_strategy(x)
        if strategy is None:
            with self._divided_on_jax():
                return super().predict(x=x, **kwargs)
        return keras.Model.predict(self, divided(self._prepared(x), strategy), **kwargs)

    def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
        """Build from the rows of the first replica; Keras adds up those of all, of any number."""
        strategy = strategy_of_several(self)
        if iterator is not None and strategy is not None:
            _, _, batches = next(iter(iterator))
            data_batch = tree.map_structure(
                lambda values: _any_rows(strategy.experimental_local_results(values)[0]),
                next(batches),
            )
            iterator = None
        super()._maybe_symbolic_build(iterator, data_batch)

    def _dividing_strategy(self, x: Any) -> Any:
        """Return the strategy that divides a dataset; None if there is none to do so."""
        is_divided = isinstance(x, (tf.data.Dataset, SharedBatches))
        return strategy_of_several(self) if is_divided else None

    @contextmanager
    def _shared_on_jax(self, x: Any) -> Iterator[Any]:
        """Divide batches on JAX while the block runs; give what of them this process prepares."""
        if not isinstance(x, SharedBatches):
            with self._divided_on_jax():
                yield x
        elif keras.distribution.distribution() is None or keras.config.backend() != "jax":
            yield x.whole()
        else:
            from kerazoo.tasks.rows_on_jax import own_rows, rows_of_process

            rows = rows_of_process(x.size)
            with own_rows(rows, x.size):
                yield x.own(rows)

    def _divided_on_jax(self) -> AbstractContextManager[None]:
        if keras.distribution.distribution() is None or keras.config.backend() != "jax":
            return nullcontext()
        from kerazoo.tasks.rows_on_jax import whole_batches

        return whole_batches()

    @without_autograph
    def _measured(self, data: Any, strategy: Any, class_weight: Any = None) -> Any:
        """Return preprocessed rows with targets as the devices get them."""
        if isinstance(data, SharedBatches):
            self._check_options(strategy)
            return divided(data.mapped(self._prepared), strategy)
        data = self._prepared(data)
        if class_weight is not None:
            data = data.map(_weighing(class_weight), tf.data.AUTOTUNE)
        if self.static_rows is not None:
            data = static_batches(data, self.static_rows)
        if strategy is None:
            return data.prefetch(tf.data.AUTOTUNE)
        self._check_options(strategy)
        return divided(data, strategy)

    def _prepared(self, data: tf.data.Dataset) -> tf.data.Dataset:
        return data.map(self.preprocess_samples, num_parallel_calls=tf.data.AUTOTUNE)

    def _check_options(self, strategy: Any) -> None:
        """Raise ValueError for what Keras cannot do with several replicas."""
        received = f"Received: {type(strategy).__name__} with {strategy.num_replicas_in_sync}"
        if self.steps_per_execution > 1:
            raise ValueError(
                "Several steps at a time give wrong sums, or fail, on several replicas; compile "
                f"with steps_per_execution=1. {received} replicas, "
                f"steps_per_execution={self.steps_per_execution}"
            )
        if self.jit_compile and not isinstance(strategy, tf.distribute.TPUStrategy):
            raise ValueError(
                "XLA cannot compile a step of several replicas, which add their gradients up; "
                f"compile with jit_compile=False. {received} replicas, jit_compile=True"
            )
        optimizer: Any = getattr(self, "optimizer", None)
        if getattr(optimizer, "gradient_accumulation_steps", None):
            raise ValueError(
                "Keras's optimizers cannot accumulate gradients on several replicas; call "
                f"`task.accumulate(…)`, which divides each batch. {received} replicas, "
                f"gradient_accumulation_steps={optimizer.gradient_accumulation_steps}"
            )
        if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
            raise ValueError(
                "Replicas of a loss-scaling optimizer may disagree about a step, and wait for each "
                f"other for ever; use mixed_bfloat16, which scales none. {received} replicas and "
                "mixed_float16"
            )


@without_autograph
def divided(data: tf.data.Dataset | SharedBatches, strategy: Any) -> Any:
    """Divide each batch into as many runs of rows as there are replicas.

    The first replicas have a row more where the rows do not come out even, and the last ones may
    have none: all then have as many batches, of the same widths, and their rows one after the other
    are the batch.

    Args:
        data: batches, in any nest of tensors, (rows, …); or such that are made row by row.
        strategy: one of TensorFlow's.

    Returns:
        A `tf.distribute.DistributedDataset`. On several machines each makes its rows of
        `SharedBatches`, and of other batches makes all and takes its rows.
    """
    replicas = strategy.num_replicas_in_sync

    def of_machine(context: tf.distribute.InputContext) -> tf.data.Dataset:
        here = replicas // context.num_input_pipelines
        numbers = tf.data.Dataset.range(here)
        first = context.input_pipeline_id * here
        if isinstance(data, SharedBatches):
            return _own_parts(data, first, numbers, replicas).prefetch(2 * here)

        def parts(*batch: Any) -> tf.data.Dataset:
            return numbers.map(lambda number: _rows_of(batch, first + number, replicas))

        return data.flat_map(parts).prefetch(2 * here)

    with tf.device("CPU:0"):
        divided_data = strategy.distribute_datasets_from_function(of_machine)
    # Keras counts steps by it; TensorFlow's own would be the number of parts.
    if isinstance(data, SharedBatches):
        divided_data._cardinality = tf.data.INFINITE_CARDINALITY
    else:
        divided_data._cardinality = data.cardinality().numpy()
    return divided_data


def _own_parts(
    batches: SharedBatches, first: int, numbers: tf.data.Dataset, replicas: int
) -> tf.data.Dataset:
    """Return the parts of the replicas of a machine, one after another."""
    bounds = batches.bounds(replicas)
    own = (bounds[first], bounds[first + int(numbers.cardinality())])
    begins = tf.constant(bounds[first:], tf.int64) - own[0]
    size = None if batches.size % replicas else batches.size // replicas

    def parts(*batch: Any) -> tf.data.Dataset:
        return numbers.map(lambda n: _part_of(batch, begins[n], begins[n + 1], size))

    return batches.own(own).flat_map(parts)


def _rows_of(batch: Any, number: tf.Tensor, parts: int) -> Any:
    """Return a part of a batch; of a dataset's element, which is unpacked if it is a tuple."""
    known = tf.nest.flatten(batch)[0].shape[0]
    rows = tf.shape(tf.nest.flatten(batch)[0], out_type=tf.int64)[0]
    begin, end = -(-number * rows // parts), -(-(number + 1) * rows // parts)
    size = known // parts if known and known % parts == 0 else None
    return _part_of(batch, begin, end, size)


def _part_of(batch: Any, begin: tf.Tensor, end: tf.Tensor, size: int | None) -> Any:
    """Return some rows of a batch; `size` is how many, if it is known."""

    def part(values: tf.Tensor) -> tf.Tensor:
        return tf.ensure_shape(values[begin:end], (size, *values.shape[1:]))

    taken = tree.map_structure(part, batch, none_is_leaf=False)
    return taken if len(batch) > 1 else taken[0]


def _weighing(class_weight: dict[int, float]) -> Any:
    """Return what gives rows the weights of their classes."""
    weights = tf.constant([class_weight.get(n, 1.0) for n in range(max(class_weight) + 1)])

    def weigh(x: Any, y: Any, sample_weight: Any = None) -> Any:
        if sample_weight is not None:
            raise ValueError(
                "Rows have weights of their own or those of their classes, not both. "
                f"Received: class_weight={class_weight!r} and sample_weight"
            )
        return x, y, tf.gather(weights, tf.cast(y, tf.int32))

    return weigh


def _any_rows(values: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec((None, *values.shape[1:]), values.dtype)
