import click

from kerazoo.cli.entities_in_text import entities_in_text, has_entities_in_text

TEXT = "小明 met Ada."
ANSWER = {
    "text": TEXT,
    "entities": [
        {"text": "小明", "type": "PER", "start": 0, "end": 2, "score": 0.5},
        {"text": "Ada", "type": "ORG", "start": 7, "end": 10, "score": 0.5},
    ],
}


def test_entities_stand_in_their_text_in_colour():
    shown = entities_in_text(ANSWER)
    assert click.unstyle(shown) == "小明[PER] met Ada[ORG]."
    assert "\x1b[" in shown
    plain = {"text": TEXT, "entities": []}
    assert entities_in_text(plain) == TEXT


def test_words_are_set_apart_by_spaces():
    answer = {
        "words": ["New", "York", "and", "Ada"],
        "tags": ["B-LOC", "I-LOC", "O", "B-PER"],
        "entities": [{}],
    }
    assert click.unstyle(entities_in_text(answer)) == "New York[LOC] and Ada[PER]"


def test_other_answers_are_none():
    assert has_entities_in_text(ANSWER)
    assert has_entities_in_text({"words": [], "tags": [], "entities": []})
    assert not has_entities_in_text({"text": "a", "label": "b"})
