import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.trimmed_offsets import trimmed_offsets


def trimmed(texts, spans):
    starts, ends = (
        tf.ragged.constant(
            [[span[i] for span in row] for row in spans], dtype=tf.int32, inner_shape=()
        )
        for i in (0, 1)
    )
    starts, ends = trimmed_offsets(tf.constant(texts), starts, ends)
    return [
        list(zip(s, e, strict=True)) for s, e in zip(starts.to_list(), ends.to_list(), strict=True)
    ]


def test_white_space_at_both_ends_is_taken_off():
    texts = ["Ada came \u3000小明 ", "", " x\u00a0y"]
    spans = [[(0, 3), (3, 8), (8, 12), (0, 13)], [], [(0, 2), (2, 4)]]
    found = trimmed(texts, spans)
    assert found == [[(0, 3), (4, 8), (10, 12), (0, 12)], [], [(1, 2), (3, 4)]]


def test_a_token_of_white_space_alone_is_empty_and_keeps_the_order():
    texts = ["a \n b", "  ", " "]
    spans = [[(0, 1), (1, 2), (2, 4), (4, 5)], [(0, 1), (1, 2)], [(0, 1)]]
    for row, text in zip(trimmed(texts, spans), texts, strict=True):
        starts, ends = np.array(row).T
        assert (np.diff(starts) >= 0).all() and (np.diff(ends) >= 0).all()
        slices = [text[s:e] for s, e in row if s < e]
        assert slices == text.split()
        assert (starts <= len(text)).all() and (ends >= 0).all()


def test_random_spans_equal_pythons_strip():
    random = np.random.default_rng(2)
    texts, spans = [], []
    for _ in range(60):
        text = "".join(random.choice(list("ab \t小😀\u2003\u0301"), size=random.integers(1, 9)))
        cuts = sorted(random.integers(0, len(text) + 1, size=4).tolist())
        texts.append(text)
        spans.append([(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if a < b])
    for row, expected, text in zip(trimmed(texts, spans), spans, texts, strict=True):
        for (start, end), (a, b) in zip(row, expected, strict=True):
            assert text[start:end] == text[a:b].strip()
