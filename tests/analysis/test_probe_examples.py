import numpy as np
import pytest

from kerazoo.analysis.probe_data import ProbeData
from kerazoo.analysis.probe_examples import ProbeExamples, check_can_be_split, left_out_words
from kerazoo.analysis.probe_states import ProbeStates

WORDS = ProbeData(
    "token", [("a", "b", "c"), ("b", "a"), ("d",)], [("x", "y", "z"), ("y", "x"), ("x",)], "pos"
)
TEXTS = ProbeData("sequence", [("a",), ("b",), ("c",), ("d",)], [("n",), ("m",), ("n",), ("m",)])


def states_at(*places):
    rows, words = np.array(places, "int64").T
    return ProbeStates(np.zeros((3, len(places), 5), "float32"), rows, words)


def test_labels_and_types_are_those_of_the_words_that_have_states():
    found = ProbeExamples.of(WORDS, states_at((0, 0), (0, 1), (1, 0), (2, 0)), 4)
    assert found.label_names == ["x", "y"]  # the z lies behind
    assert found.classes.tolist() == [0, 1, 1, 0]
    assert found.types == ["a", "b", "b", "d"] and found.left_out == 2


def test_texts_are_types_of_their_own():
    found = ProbeExamples.of(TEXTS, states_at((0, 0), (1, 0), (3, 0)), 4)
    assert found.types == [("a",), ("b",), ("d",)] and found.left_out == 1
    assert found.classes.tolist() == [1, 0, 0]


def test_one_label_that_is_left_is_told_with_the_reason():
    message = "pos: .* two or more. 4 words lie behind 3 tokens, .* Received: labels=.'x'"
    with pytest.raises(ValueError, match=message):
        ProbeExamples.of(WORDS, states_at((0, 0), (2, 0)), 3)


def test_a_sentence_is_on_one_side():
    found = ProbeExamples.of(WORDS, states_at((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)), 9)
    for seed in range(5):
        train, test = found.split(0.34, seed)
        assert sorted([*train, *test]) == [0, 1, 2, 3, 4]
        assert not set(found.rows[train]) & set(found.rows[test])


def test_what_cannot_be_split_is_told():
    check_can_be_split(WORDS)
    check_can_be_split(TEXTS)
    one = ProbeData("token", [("a", "b")], [("x", "y")], "pos.conll")
    with pytest.raises(ValueError, match="pos.conll: one sentence cannot be split .*: 1 row$"):
        check_can_be_split(one)
    single = ProbeData("sequence", [("a",), ("b",)], [("x",), ("y",)])
    with pytest.raises(ValueError, match="no label has two texts, .* Received: 2 rows"):
        check_can_be_split(single)


@pytest.mark.parametrize(
    ("level", "left_out", "words"),
    [
        ("token", 0, ""),
        ("token", 1, "1 word lies behind 3 tokens, or has no token, and is left out"),
        ("token", 100, "100 words lie behind 3 tokens, or have no token, and are left out"),
        ("sequence", 2, "2 texts have no token, and are left out"),
    ],
)
def test_what_is_left_out_in_words(level, left_out, words):
    assert left_out_words(level, left_out, 3) == words
