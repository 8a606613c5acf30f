import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.text_rows import MaskPadding, MergeTexts, SplitTexts


def test_texts_are_merged_and_split_again():
    values = np.random.default_rng(2).normal(size=(3, 4, 5)).astype("float32")
    merged = MergeTexts()(values)
    np.testing.assert_array_equal(ops.convert_to_numpy(merged), values.reshape(12, 5))
    split = SplitTexts()(merged, like=np.zeros((3, 4, 7), "int32"))
    np.testing.assert_array_equal(ops.convert_to_numpy(split), values)


def test_open_sizes_in_a_functional_graph():
    inputs = keras.Input((None, None), dtype="int32")
    merged = MergeTexts()(inputs)
    assert (tuple(merged.shape), merged.dtype) == ((None, None), "int32")
    states = keras.layers.Embedding(9, 5)(merged)[:, 0, :]
    outputs = SplitTexts()(states, like=inputs)
    assert tuple(outputs.shape) == (None, None, 5)
    model = keras.Model(inputs, outputs)
    for shape in ((2, 3, 4), (3, 1, 2)):
        ids = np.arange(np.prod(shape)).reshape(shape) % 9
        assert tuple(model(ids).shape) == (*shape[:2], 5)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_texts_of_padding_alone_get_no_probability(dtype):
    mask = np.ones((2, 3, 4), "int32")
    mask[0, 2] = 0
    mask[1, :, 1:] = 0
    scores = ops.convert_to_tensor(np.array([[1.0, 2.0, 90.0], [3.0, 1.0, 2.0]], "float32"))
    masked = MaskPadding(dtype=dtype)(scores, padding_mask=mask)
    assert ops.dtype(masked) == "float32"
    probabilities = ops.convert_to_numpy(ops.softmax(masked))
    expected = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    np.testing.assert_allclose(probabilities[0], [*expected, 0], atol=1e-6)
    np.testing.assert_array_equal(ops.convert_to_numpy(masked)[1], [3, 1, 2])
