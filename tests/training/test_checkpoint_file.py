import json
import struct

import keras
import numpy as np
import pytest

from kerazoo.training.checkpoint_file import StoredVariables, write_variables

METADATA = {"note": 'häß "quoted"', "zeros": "0" * 64}


@pytest.fixture
def variables():
    values = [
        ("kernel", np.arange(6.0).reshape(2, 3), "float32"),
        ("empty", np.zeros((0, 4)), "float32"),
        ("half", np.array([1.5, -2.0, 3.25]), "bfloat16"),
        ("iteration", np.array(7), "int32"),
        ("seed", np.array([5, 2**32 - 1], "uint32"), "uint32"),
    ]
    return [keras.Variable(v, dtype=d, name=n, trainable=False) for n, v, d in values]


@pytest.fixture
def file(variables, tmp_path):
    write_variables(tmp_path / "a.safetensors", variables, METADATA)
    return tmp_path / "a.safetensors"


def test_what_is_written_is_read_back(file, variables):
    stored = StoredVariables(file)
    assert stored.metadata == METADATA
    assert stored.checksum in file.read_bytes().decode("latin-1")
    assert len(stored.checksum) == 64
    assert len(stored) == len(variables)
    for number, variable in enumerate(variables):
        value, read = keras.ops.convert_to_numpy(variable), stored.value(number)
        assert stored.shape(number) == value.shape == read.shape
        assert read.dtype.name == keras.backend.standardize_dtype(variable.dtype)
        np.testing.assert_array_equal(read, value)


def test_it_is_a_safetensors_file(file):
    from safetensors import safe_open

    with safe_open(file, framework="np") as content:
        assert content.metadata()["note"] == METADATA["note"]
        np.testing.assert_array_equal(content.get_tensor("000000"), np.arange(6.0).reshape(2, 3))


def test_every_single_byte_counts(file):
    content = file.read_bytes()
    assert len(content) > 300
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.safetensors is damaged"):
            StoredVariables(file)
    file.write_bytes(content)
    StoredVariables(file)


@pytest.mark.parametrize("size", [0, 5, 8, 100, -1])
def test_a_cut_file(file, size):
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"a\.safetensors is damaged"):
        StoredVariables(file)


@pytest.mark.parametrize("header", [[], {}, {"__metadata__": None}, {"__metadata__": {}}, "x"])
def test_another_file(file, header):
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text)
    with pytest.raises(ValueError, match="is damaged"):
        StoredVariables(file)


def test_more_bytes_than_were_written(file):
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(ValueError, match="checksum"):
        StoredVariables(file)


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
def test_a_weight_that_is_not_finite_is_not_written(tmp_path, wrong):
    variables = [keras.Variable(np.array(v), name=n) for n, v in [("a", [1.0]), ("b", [2, wrong])]]
    write_variables(tmp_path / "sums", variables, {}, finite=1)
    with pytest.raises(ValueError, match="not a finite number.*Received: b"):
        write_variables(tmp_path / "weights", variables, {}, finite=2)
