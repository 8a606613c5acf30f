import numpy as np
import pytest
from keras import ops

from kerazoo.layers.key_value_cache import write_slice, write_where


@pytest.mark.parametrize("write", [write_slice, write_where])
@pytest.mark.parametrize("slot", [0, 3, 6])
def test_one_slot_is_written_and_the_others_stay(write, slot):
    random = np.random.default_rng(1)
    cache = random.normal(size=(3, 4, 7, 5)).astype("float32")
    new = random.normal(size=(3, 4, 1, 5)).astype("float32")
    written = write(
        ops.convert_to_tensor(cache),
        ops.convert_to_tensor(new),
        ops.convert_to_tensor(slot, dtype="int32"),
    )
    expected = cache.copy()
    expected[:, :, slot] = new[:, :, 0]
    np.testing.assert_array_equal(ops.convert_to_numpy(written), expected)


@pytest.mark.tensorflow
def test_core_operations_alone_write_where():
    import tensorflow as tf

    def operations(write):
        spec = [tf.TensorSpec((None, 4, None, 5)), tf.TensorSpec((None, 4, 1, 5))]
        function = tf.function(write).get_concrete_function(*spec, tf.TensorSpec((), tf.int32))
        return {operation.type for operation in function.graph.get_operations()}

    assert any(name.startswith("Xla") for name in operations(write_slice))
    assert not any(name.startswith("Xla") for name in operations(write_where))
