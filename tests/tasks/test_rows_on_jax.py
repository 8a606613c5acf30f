from types import SimpleNamespace

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(keras.config.backend() != "jax", reason="of JAX")


@pytest.fixture
def devices():
    from kerazoo.training.distribution import from_name

    with from_name("data_parallel").scope():
        yield


def shards(values):
    return [np.asarray(shard.data).tolist() for shard in values.addressable_shards]


def test_rows_are_divided_where_they_come_out_even(devices):
    from kerazoo.tasks.rows_on_jax import on_devices

    even, weights = on_devices((np.arange(6), None))
    assert (shards(even), weights) == ([[0, 1, 2], [3, 4, 5]], None)


def test_each_device_has_all_rows_where_they_do_not(devices):
    from kerazoo.tasks.rows_on_jax import on_devices

    assert shards(on_devices(np.arange(3))) == [[0, 1, 2]] * 2


def test_outputs_are_whole_on_each_device(devices):
    import jax

    from kerazoo.tasks.rows_on_jax import on_devices, on_every_device

    assert shards(jax.jit(on_every_device)(on_devices(np.arange(4)))) == [[0, 1, 2, 3]] * 2


def test_keras_gets_its_own_back(monkeypatch):
    from kerazoo.tasks.rows_on_jax import on_devices, whole_batches

    trainer = keras.src.backend.jax.trainer
    own = trainer._distribute_data
    with whole_batches():
        assert trainer._distribute_data is on_devices
    assert trainer._distribute_data is own
    monkeypatch.delattr(trainer, "_distribute_data")
    with pytest.raises(NotImplementedError, match="install keras 3.15"), whole_batches():
        pass


def distribution_of(*runs):
    """A distribution on 4 devices, of which those of this process have these rows of 8."""
    indices = {number: (slice(*run),) for number, run in enumerate(runs)}
    layout = SimpleNamespace(addressable_devices_indices_map=lambda shape: indices)
    return SimpleNamespace(
        num_model_replicas=4, get_data_layout=lambda shape: SimpleNamespace(backend_layout=layout)
    )


@pytest.mark.parametrize(
    ("size", "runs", "rows"),
    [
        (8, [(4, 6), (6, 8)], (4, 8)),
        (8, [(2, 4), (2, 4)], (2, 4)),  # two devices that divide the weights
        (8, [(0, 2), (4, 6)], (0, 8)),
        (8, [(None, None)], (0, 8)),
        (7, [(4, 6), (6, 8)], (0, 7)),
    ],
)
def test_a_process_has_the_rows_of_its_devices(monkeypatch, size, runs, rows):
    from kerazoo.tasks.rows_on_jax import rows_of_process

    monkeypatch.setattr(keras.distribution, "distribution", lambda: distribution_of(*runs))
    assert rows_of_process(size) == rows


def test_rows_of_a_process_stand_where_they_stand_in_the_batch(devices, monkeypatch):
    import jax

    from kerazoo.tasks.rows_on_jax import own_rows

    asked = []

    def noted(shape, sharding, on_device):
        asked.append((shape, on_device((slice(4, 6), slice(None))).tolist()))

    monkeypatch.setattr(jax, "make_array_from_callback", noted)
    trainer = keras.src.backend.jax.trainer
    with own_rows((4, 8), 8):
        trainer._distribute_data((np.arange(8).reshape(4, 2), None))
    assert asked == [((8, 2), [[0, 1], [2, 3]])]
