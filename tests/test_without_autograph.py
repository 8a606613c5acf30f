import pytest
import tensorflow as tf

from kerazoo.without_autograph import without_autograph


def sign(number):
    if number < 0:  # AutoGraph would convert it
        return -1
    return 1


@pytest.mark.parametrize("number, expected", [(-3, -1), (4, 1)])
def test_python_runs_as_it_stands(number, expected):
    assert without_autograph(sign)(number) == expected


def test_nothing_is_converted_in_a_dataset():
    @without_autograph
    def signs(numbers):
        return numbers.map(sign)

    numbers = tf.data.Dataset.from_tensor_slices([-3, 4])
    assert [int(number) for number in numbers.map(sign)] == [-1, 1]
    with pytest.raises(TypeError, match="symbolic .* as a Python .bool."):
        signs(numbers)
