import json

import numpy as np

from kerazoo.tasks.mask_answers import mask_answers


def test_unused_slots_are_left_out_and_json_can_hold_the_rest():
    outputs = {
        "tokens": np.array([[[b"a", b"\xe5\xa5\xbd"], [b"", b""]], [[b"", b""]] * 2]),
        "scores": np.array([[[0.5, 0.25], [0, 0]], [[0, 0]] * 2], "float32"),
        "positions": np.array([[3, -1], [-1, -1]], "int32"),
        "filled_text": np.array([b"is a", b"none"]),
    }
    expected = [
        {
            "filled_text": "is a",
            "masks": [{"position": 3, "tokens": ["a", "好"], "scores": [0.5, 0.25]}],
        },
        {"filled_text": "none", "masks": []},
    ]
    assert mask_answers(outputs) == expected
    assert json.loads(json.dumps(mask_answers(outputs))) == expected
