import numpy as np

from kerazoo.tasks.entity_answers import entity_answers


def test_rows_of_fixed_width_become_lists():
    outputs = {
        "entities": np.array([[b"Ada", "小明".encode()], [b"", b""]], object),
        "types": np.array([[b"PER", b"PER"], [b"", b""]], object),
        "starts": np.array([[0, 9], [0, 0]], "int32"),
        "ends": np.array([[3, 11], [0, 0]], "int32"),
        "scores": np.array([[0.5, 0.25], [0, 0]], "float32"),
        "count": np.array([3, 0], "int32"),
    }
    many, none = entity_answers(outputs)
    assert many["count"] == 3
    assert many["entities"][1] == {
        "text": "小明",
        "type": "PER",
        "start": 9,
        "end": 11,
        "score": 0.25,
    }
    assert len(many["entities"]) == 2
    assert none == {"entities": [], "count": 0}
