import json
import struct

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from kerazoo.conversion.safetensors_file import read_safetensors


def test_names_shapes_and_values(tmp_path):
    path = tmp_path / "m.safetensors"
    values = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b.c": np.float16([0.1, 7])}
    save_file(values, path)
    tensors = read_safetensors(path)
    assert tensors.keys() == values.keys()
    for name, tensor in tensors.items():
        assert (tensor.name, tensor.shape, tensor.file) == (name, values[name].shape, path)
        np.testing.assert_array_equal(tensor.read(), values[name].astype(np.float32))


def test_bfloat16_is_read(tmp_path):
    path = tmp_path / "m.safetensors"
    values = np.float32([1.5, -3, 0.1]).astype(ml_dtypes.bfloat16)
    header = {"w": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + values.tobytes())
    read = read_safetensors(path)["w"].read()
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, values.astype(np.float32))


@pytest.mark.parametrize("keep", [0, 5, 60, -1])
def test_a_truncated_file_is_named(tmp_path, keep):
    path = tmp_path / "m.safetensors"
    save_file({"a": np.zeros((4, 5), np.float32)}, path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="truncated or not a safetensors file") as error:
        read_safetensors(path)
    assert str(path) in str(error.value)
