import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tokenizers.texts import to_text_tensor


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("é", "é".encode()),
        (b"a", b"a"),
        (["a", "é", ""], [b"a", "é".encode(), b""]),
        (("a", "b"), [b"a", b"b"]),
        (np.array(["a", "é"]), [b"a", "é".encode()]),
        (np.array(["a", "b"], dtype=object), [b"a", b"b"]),
        ([["a", "b", "c"], ["d", "e", "f"]], [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]),
        ([], []),
        (tf.constant(["a"]), [b"a"]),
    ],
)
def test_every_form_of_texts(texts, expected):
    tensor = to_text_tensor(texts)
    assert tensor.dtype == tf.string
    assert tensor.numpy().tolist() == expected if tensor.shape.rank else tensor.numpy() == expected


def test_ragged_texts():
    texts = to_text_tensor(tf.ragged.constant([[b"a", b"\xff"], [], [b"b"]]))
    assert texts.to_list() == [[b"a", "\ufffd".encode()], [], [b"b"]]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\xff\xfeb", "a\ufffd\ufffdb"),
        (b"\xf0\x9fabc\xe4", "\ufffdabc\ufffd"),
        (b"\xed\xa0\x80x", "\ufffd\ufffd\ufffdx"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xef\xbb\xbfa\x00", "\ufeffa\x00"),
    ],
)
def test_invalid_bytes_are_replaced_as_python_does(data, expected):
    texts = to_text_tensor(tf.constant([b"fine", data])).numpy()
    assert [text.decode("utf-8") for text in texts] == ["fine", expected]
    assert data.decode("utf-8", errors="replace") == expected


@pytest.mark.parametrize(
    "texts", [[1, 2], ["a", None], ["a", float("nan")], 3, [["a"], ["b", "c"]]]
)
def test_other_things_are_no_texts(texts):
    with pytest.raises(TypeError, match="takes strings.*Received"):
        to_text_tensor(texts)


def test_tensors_of_numbers_are_no_texts():
    with pytest.raises(TypeError, match="dtype int32"):
        to_text_tensor(tf.constant([1, 2]))


def test_half_a_surrogate_pair():
    with pytest.raises(ValueError, match="surrogate pair.*at character 2"):
        to_text_tensor(["fine", "ab\ud800c"])
