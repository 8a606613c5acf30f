import numpy as np
from keras import ops

from kerazoo.layers.packed_rows import positions_in_texts, same_text

NUMBERS = np.array([[1, 1, 2, 3, 3, 3, 0], [1, 1, 1, 1, 1, 0, 0]], "int32")


def test_texts_are_told_apart():
    found = ops.convert_to_numpy(same_text(ops.convert_to_tensor(NUMBERS)))
    assert found.shape == (2, 1, 7, 7)
    for row, numbers in enumerate(NUMBERS):
        for query in range(7):
            np.testing.assert_array_equal(found[row, 0, query], numbers == numbers[query])


def test_positions_begin_anew_in_each_text():
    found = positions_in_texts(same_text(ops.convert_to_tensor(NUMBERS)))
    expected = [[0, 1, 0, 0, 1, 2, 0], [0, 1, 2, 3, 4, 0, 1]]
    np.testing.assert_array_equal(ops.convert_to_numpy(found), expected)
