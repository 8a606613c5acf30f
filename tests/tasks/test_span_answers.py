import json

import numpy as np

from kerazoo.tasks.span_answers import span_answers

OUTPUTS = {
    "answer": np.array(["小明".encode(), b""], object),
    "start": np.array([3, 0], "int32"),
    "end": np.array([5, 0], "int32"),
    "score": np.array([0.75, 0.0], "float32"),
    "no_answer_score": np.array([-2.0, 1e30], "float32"),
    "n_best_answers": np.array([["小明".encode(), b"", b""], [b"", b"", b""]], object),
    "n_best_starts": np.array([[3, 0, 0], [0, 0, 0]], "int32"),
    "n_best_ends": np.array([[5, 0, 0], [0, 0, 0]], "int32"),
    "n_best_scores": np.array([[0.75, 0.25, 0.0], [0, 0, 0]], "float32"),
}


def test_entries_that_are_none_are_left_out():
    first, second = span_answers(OUTPUTS)
    assert first == {
        "answer": "小明",
        "start": 3,
        "end": 5,
        "score": 0.75,
        "no_answer_score": -2.0,
        "n_best": [
            {"answer": "小明", "start": 3, "end": 5, "score": 0.75},
            {"answer": "", "start": 0, "end": 0, "score": 0.25},
        ],
    }
    assert second["n_best"] == []
    json.dumps([first, second], allow_nan=False)
