from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from kerazoo.conversion.stored_tensor import StoredTensor


def stored(values):
    return StoredTensor("w", values.shape, Path("file.bin"), lambda: values)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_becomes_float32_without_loss(dtype):
    every_pattern = np.arange(2**16, dtype=np.uint16).view(dtype)
    values = stored(every_pattern).read()
    assert values.dtype == np.float32
    finite = np.isfinite(values)
    assert finite.sum() > 60_000
    np.testing.assert_array_equal(values[finite].astype(dtype), every_pattern[finite])


def test_float32_is_returned_as_it_is():
    values = np.float32([1.5, -2])
    assert stored(values).read() is values


def test_float64_is_rounded_to_float32():
    assert stored(np.float64([1 / 3])).read()[0] == np.float32(1 / 3)


def test_integers_are_no_weights():
    with pytest.raises(ValueError, match=r"'w' in file.bin .*Received: dtype='int64'"):
        stored(np.arange(3)).read()


def test_nothing_is_read_before_it_is_asked_for():
    calls = []
    tensor = StoredTensor("w", (1,), Path("f"), lambda: calls.append(1) or np.zeros(1, "float32"))
    assert (tensor.shape, calls) == ((1,), [])
    tensor.read()
    assert calls == [1]
