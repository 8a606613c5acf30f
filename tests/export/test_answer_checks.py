import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.answer_checks import (
    EXACT_TOLERANCE,
    ROUNDED_TOLERANCE,
    answer_tolerance,
    arrays_agree,
    check_same_answers,
    check_values,
)
from kerazoo.export.graph_nodes import graph_nodes
from kerazoo.export.replay import Answer
from kerazoo.export.server_session import ModelError
from kerazoo.export.signatures import read_meta_graph
from kerazoo.export.verification_report import Status

SCORES = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]], np.float32)
HALF_A_CHARACTER = "票".encode()[:2]


def make_answer(make_signature, **outputs):
    signature = make_signature({"x": ("float32", (None, 2))}, {})
    return Answer(signature, {"x": SCORES}, outputs)


@pytest.mark.parametrize(
    ("left", "right", "agree"),
    [
        (SCORES, SCORES + 5e-6, True),
        (SCORES, SCORES + 5e-5, False),
        (SCORES, SCORES[:2], False),
        (SCORES * 1e6, SCORES * 1e6 * (1 + 5e-6), True),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([b"a", b"b"], object), np.array([b"a", b"b"], object), True),
        (np.array([b"a", b"b"], object), np.array([b"a", b"B"], object), False),
        (np.array([b"a"], object), np.array([1.0]), False),
    ],
)
def test_when_answers_agree(left, right, agree):
    assert arrays_agree(left, right, EXACT_TOLERANCE) is agree


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (tf.float64, EXACT_TOLERANCE),
        (tf.bfloat16, ROUNDED_TOLERANCE),
        (tf.float16, ROUNDED_TOLERANCE),
        (tf.int8, ROUNDED_TOLERANCE),
    ],
)
def test_graphs_that_round_within_may_differ_more(save_model, dtype, tolerance):
    def serve(x):
        return {"y": tf.cast(tf.cast(x, dtype) + tf.ones([], dtype), tf.float32)}

    version_dir = save_model(serve, tf.TensorSpec([None, 5], name="x"))
    assert answer_tolerance(graph_nodes(read_meta_graph(version_dir))) == tolerance


def test_good_values_pass(make_signature, text_array):
    answer = make_answer(make_signature, label=text_array("体育", "", "😀"), score=SCORES)
    assert check_values([answer]).status is Status.OK


def test_strings_that_are_not_text_are_refused(make_signature):
    bad = np.array([b"fine", HALF_A_CHARACTER], object)
    check = check_values([make_answer(make_signature, word=bad, score=SCORES)])
    assert check.status is Status.FAILED
    assert check.message.startswith("serving_default.word: not valid UTF-8")
    assert "tf.strings.unicode_transcode" in check.message


def test_strings_that_are_not_text_may_be_called_bytes(make_signature):
    bad = np.array([b"fine", HALF_A_CHARACTER], object)
    assert check_values([make_answer(make_signature, word_bytes=bad)]).status is Status.OK


def test_numbers_that_are_not_finite_are_a_warning(make_signature):
    infinite = np.where(SCORES == 1, np.inf, SCORES)
    answers = [make_answer(make_signature, y=SCORES), make_answer(make_signature, y=infinite)]
    check = check_values(answers)
    assert check.status is Status.WARNING
    assert check.message.startswith("serving_default.y: NaN or infinite")


def test_no_answers_are_not_a_pass():
    assert check_values([]).status is Status.NOT_RUN


def test_equal_answers_pass(make_signature, function_model, text_array):
    words = text_array("a", "b", "c")
    answer = make_answer(make_signature, y=SCORES, word=words)
    python = function_model(lambda x: {"y": x + 5e-6, "word": words.copy()})
    check = check_same_answers([answer], python, EXACT_TOLERANCE)
    assert check.status is Status.OK
    assert "numbers within 1e-05" in check.message


WORDS = np.array([b"a", b"b", b"c"], object)


@pytest.mark.parametrize(
    ("answered", "expected", "words"),
    [
        (SCORES, SCORES + 0.125, "differs by up to 0.125 between C++ and Python. A graph that"),
        (SCORES, SCORES[:, :1], "has the shape (3, 2) in C++ and (3, 1) in Python."),
        (WORDS, WORDS[::-1], "differs between C++ and Python."),
    ],
    ids=["numbers", "shapes", "strings"],
)
def test_other_answers_are_refused(make_signature, function_model, answered, expected, words):
    answer = make_answer(make_signature, y=answered)
    check = check_same_answers([answer], function_model(lambda x: {"y": expected}), 1e-5)
    assert check.status is Status.FAILED
    assert f"serving_default.y {words}" in check.message


def test_a_failure_in_python_is_refused(make_signature, function_model):
    def serve(x):
        raise ModelError("no such function")

    answer = make_answer(make_signature, y=SCORES)
    check = check_same_answers([answer], function_model(serve), 1e-5)
    assert check.status is Status.FAILED
    assert "answers in C++ and fails in Python: no such function" in check.message
