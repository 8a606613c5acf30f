"""Windows against a plain loop; the most central window against trying all of them."""

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.windows import Windows, windows_of

LENGTHS = [0, 1, 7, 8, 23, 5, 41]


def windows_by_hand(lengths: list[int], widths: list[int], strides: list[int]) -> list[list[int]]:
    """Return document, first token and length of each window."""
    found = []
    for document, (length, width, stride) in enumerate(zip(lengths, widths, strides, strict=True)):
        first = 0
        while True:
            found.append([document, first, min(width, length - first)])
            if first + width >= length:
                break
            first += stride
    return found


def columns(windows: Windows) -> list[list[int]]:
    return tf.stack([windows.document, windows.first, windows.length], axis=1).numpy().tolist()


@pytest.mark.parametrize(("width", "stride"), [(7, 3), (7, 7), (5, 1), (41, 2), (8, 5)])
def test_windows_equal_a_plain_loop(width: int, stride: int) -> None:
    expected = windows_by_hand(LENGTHS, [width] * 7, [stride] * 7)
    assert columns(windows_of(tf.constant(LENGTHS), width, stride)) == expected


def test_width_and_stride_may_differ_by_document() -> None:
    widths, strides = [3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7]
    windows = windows_of(tf.constant(LENGTHS), tf.constant(widths), tf.constant(strides))
    assert columns(windows) == windows_by_hand(LENGTHS, widths, strides)


def test_windows_are_the_same_in_a_graph() -> None:
    traced = tf.function(
        lambda lengths: columns_in_graph(windows_of(lengths, 7, 3)),
        input_signature=[tf.TensorSpec((None,), tf.int64)],
    )
    assert traced(tf.constant(LENGTHS, tf.int64)).numpy().tolist() == columns(
        windows_of(tf.constant(LENGTHS), 7, 3)
    )
    assert traced(tf.constant([], tf.int64)).shape == (0, 3)


def columns_in_graph(windows: Windows) -> tf.Tensor:
    return tf.stack([windows.document, windows.first, windows.length], axis=1)


@pytest.mark.parametrize(("width", "stride"), [(7, 3), (7, 7), (5, 1), (9, 2), (8, 5)])
def test_each_token_has_one_owner_the_most_central_window(width: int, stride: int) -> None:
    windows = windows_of(tf.constant(LENGTHS), width, stride)
    owners = windows.owners(width).numpy()
    best: dict[tuple[int, int], tuple[int, int]] = {}
    for number, (document, first, length) in enumerate(columns(windows)):
        for position in range(length):
            context = min(position, length - 1 - position)
            token = (document, first + position)
            if token not in best or context > best[token][0]:
                best[token] = (context, number)
    expected = np.zeros_like(owners)
    for (document, token), (_, number) in best.items():
        assert columns(windows)[number][0] == document
        expected[number, token - columns(windows)[number][1]] = True
    np.testing.assert_array_equal(owners, expected)
    assert owners.sum() == sum(LENGTHS)


def test_each_span_that_fits_has_one_most_central_window() -> None:
    width, stride, length = 9, 2, 30
    windows = windows_of(tf.constant([length]), width, stride)
    rows = columns(windows)
    for size in (1, 4, 7):
        seen = np.zeros(length, dtype=int)
        starts = tf.range(width - size + 1)[tf.newaxis, :]
        central = windows.is_most_central(starts, starts + size - 1).numpy()
        for number, (_, first, count) in enumerate(rows):
            for position in range(width - size + 1):
                if position + size <= count and central[number, position]:
                    seen[first + position] += 1
        # Of spans of up to width - stride + 1 tokens every one fits into some window.
        assert seen[: length - size + 1].tolist() == [1] * (length - size + 1)


def test_cut_and_part_give_what_each_window_sees() -> None:
    ids = tf.ragged.constant([[], [10, 11, 12, 13, 14], [20, 21]], dtype=tf.int32)
    windows = windows_of(ids.row_lengths(), 3, 2)
    assert windows.cut(ids, 4, default=-1).numpy().tolist() == [
        [-1, -1, -1, -1],
        [10, 11, 12, -1],
        [12, 13, 14, -1],
        [20, 21, -1, -1],
    ]
    part = windows.part(ids, segment=1)
    assert (part.segment, part.starts.numpy().tolist()) == (1, [0, 0, 2, 5])
    assert part.lengths.numpy().tolist() == [0, 3, 3, 2]
    nothing = tf.RaggedTensor.from_row_lengths(tf.constant([], tf.int32), [0])
    assert windows_of(nothing.row_lengths(), 3, 2).cut(nothing, 2).numpy().tolist() == [[0, 0]]


def test_a_stride_that_leaves_gaps_is_an_error() -> None:
    with pytest.raises(ValueError, match="no window reads.*Received: stride=8"):
        windows_of(tf.constant([3]), 7, 8)
    with pytest.raises(ValueError, match="above zero.*Received: stride=0"):
        windows_of(tf.constant([3]), 7, 0)
