import numpy as np

from kerazoo.tasks.entity_answers import entity_answers, tags_of_words


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


def test_entities_of_joined_words_are_tags():
    words = ["New", "York", "Ada", "小明", "x"]
    entities = [
        {"start": 0, "end": 8, "type": "LOC"},
        {"start": 9, "end": 12, "type": "PER"},
        {"start": 14, "end": 15, "type": "PER"},
    ]
    expected = ["B-LOC", "I-LOC", "B-PER", "B-PER", "O"]
    assert tags_of_words(words, " ", entities) == {"words": words, "tags": expected}
    (entity,) = [{"start": 0, "end": 2, "type": "PER"}]
    assert tags_of_words(["小", "明", "a"], "", [entity])["tags"] == ["B-PER", "I-PER", "O"]
    assert tags_of_words([], " ", [])["tags"] == []
