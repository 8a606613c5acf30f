"""Batches on the devices of a JAX distribution, whatever their rows."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import jax
import keras
from keras import tree

from kerazoo.tasks.shared_batches import Rows

_FUNCTION = "_distribute_data"


def whole_batches() -> AbstractContextManager[None]:
    """Put each batch on the devices as `on_devices` does while the block runs.

    Keras's own fails where the rows do not divide evenly, as those of a last batch, and takes the
    rows of each process for a part of the batch.

    Raises:
        NotImplementedError: if this Keras does it elsewhere.
    """
    return _placed_by(on_devices)


def own_rows(rows: Rows, size: int) -> AbstractContextManager[None]:
    """Put each batch on the devices, of which this process has its rows, while the block runs.

    Args:
        rows: those that this process has.
        size: int, rows of the whole batch.

    Raises:
        NotImplementedError: see `whole_batches`.
    """
    if rows == (0, size):
        return whole_batches()

    def on_own_devices(data: Any, layouts: Any = None) -> Any:
        return tree.map_structure(lambda values: _own_placed(values, rows[0], size), data)

    return _placed_by(on_own_devices)


def rows_of_process(size: int) -> Rows:
    """Return the rows of a batch that the devices of this process compute.

    They are all rows where they do not divide evenly, or are no single run.

    Args:
        size: int, rows of the batch.
    """
    distribution = keras.distribution.distribution()
    if size % distribution.num_model_replicas:
        return 0, size
    sharding = distribution.get_data_layout((size,)).backend_layout
    indices = sharding.addressable_devices_indices_map((size,)).values()
    runs = {index[0].indices(size)[:2] for index in indices}
    begin, end = min(run[0] for run in runs), max(run[1] for run in runs)
    is_one_run = sum(after - first for first, after in runs) == end - begin
    return (begin, end) if is_one_run else (0, size)


def _own_placed(values: Any, begin: int, size: int) -> Any:
    """Return an array of the whole batch of which this process has the rows from `begin` on."""
    if values is None:
        return None
    shape = (size, *values.shape[1:])
    sharding = keras.distribution.distribution().get_data_layout(shape).backend_layout

    def on_device(index: tuple[slice, ...]) -> Any:
        first, after, _ = index[0].indices(size)
        return values[(slice(first - begin, after - begin), *index[1:])]

    return jax.make_array_from_callback(shape, sharding, on_device)


@contextmanager
def _placed_by(place: Any) -> Iterator[None]:
    """Let Keras put batches on the devices by a function of ours."""
    trainer = keras.src.backend.jax.trainer
    own = getattr(trainer, _FUNCTION, None)
    if own is None:
        raise NotImplementedError(
            "Batches cannot be divided among devices with this release of Keras; install keras "
            f"3.15. Received: keras={keras.__version__}"
        )
    setattr(trainer, _FUNCTION, place)
    try:
        yield
    finally:
        setattr(trainer, _FUNCTION, own)


def on_devices(data: Any, layouts: Any = None) -> Any:
    """Return a batch, which every process has whole, on the devices of the distribution.

    Args:
        data: a nest of arrays, (rows, …), and None.
        layouts: what Keras would do with the rows of the first batch.

    Returns:
        The same of global arrays: each device has its share of the rows, or all of them where they
        do not divide evenly.
    """
    distribution = keras.distribution.distribution()
    replicas = distribution.num_model_replicas

    def placed(values: Any) -> Any:
        if values is None:
            return None
        layout = distribution.get_data_layout(values.shape)
        if values.shape[0] % replicas:
            axes = [None] * len(values.shape)
            layout = keras.distribution.TensorLayout(axes, distribution.device_mesh)
        sharding = layout.backend_layout
        return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])

    return tree.map_structure(placed, data)


def on_every_device(outputs: Any) -> Any:
    """Return a nest of global arrays of which each device, so each process, has all rows."""
    mesh = keras.distribution.distribution().device_mesh

    def whole(values: jax.Array) -> jax.Array:
        layout = keras.distribution.TensorLayout([None] * values.ndim, mesh)
        return jax.lax.with_sharding_constraint(values, layout.backend_layout)

    return tree.map_structure(whole, outputs)
