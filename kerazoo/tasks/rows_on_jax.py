"""Batches on the devices of a JAX distribution, whatever their rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import keras
from keras import tree

_FUNCTION = "_distribute_data"


@contextmanager
def whole_batches() -> Iterator[None]:
    """Put each batch on the devices as `on_devices` does while the block runs.

    Keras's own fails where the rows do not divide evenly, as those of a last batch, and takes the
    rows of each process for a part of the batch.

    Raises:
        NotImplementedError: if this Keras does it elsewhere.
    """
    trainer = keras.src.backend.jax.trainer
    own = getattr(trainer, _FUNCTION, None)
    if own is None:
        raise NotImplementedError(
            "Batches cannot be divided among devices with this release of Keras; install keras "
            f"3.15. Received: keras={keras.__version__}"
        )
    setattr(trainer, _FUNCTION, on_devices)
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
