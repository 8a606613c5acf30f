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
