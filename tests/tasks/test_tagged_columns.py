import numpy as np
import pytest
import tensorflow as tf
from tiny_token_classifier import ENTITIES, LABELS, TAGS, TEXTS, WORDS

from kerazoo.tasks.tagged_columns import is_raw_tagged, tagged_columns, target_columns


def test_texts_and_words_come_in_many_forms():
    for given in (TEXTS, {"text": TEXTS}, np.array(TEXTS), tf.constant(TEXTS), tuple(TEXTS)):
        assert is_raw_tagged(given)
        (column,) = tagged_columns(given).values()
        assert [t.decode() for t in column.numpy()] == TEXTS
    for given in (WORDS, {"words": WORDS}, tf.ragged.constant(WORDS)):
        assert is_raw_tagged(given)
        (column,) = tagged_columns(given).values()
        assert [[w.decode() for w in row] for row in column.to_list()] == WORDS
    assert list(tagged_columns([])) == ["text"]
    assert tagged_columns({"words": []})["words"].to_list() == []
    assert not is_raw_tagged({"token_ids": [[1]]})
    assert not is_raw_tagged(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Ada came", "Pass a list, even for one text"),
        ({"words": "Ada"}, "Pass a list"),
        ({"text": ["a"], "words": [["a"]]}, "either 'text' or 'words'"),
        ({"text": ["a"], "tags": [["a"]]}, "either 'text' or 'words'"),
        (["a", 3], "Row 1 is not a text"),
        ([["a"], "b"], "Row 1 is not a list of words"),
        ([["a"], ["b", 3]], "Row 1 is not a list of words"),
    ],
)
def test_other_things_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        tagged_columns(given)


def test_tags_are_names_or_numbers():
    columns = tagged_columns(WORDS)
    names = target_columns(TAGS, columns, LABELS)
    numbers = [[LABELS.index(tag) for tag in row] for row in TAGS]
    assert names.to_list() == numbers
    assert target_columns(numbers, columns, LABELS).to_list() == numbers
    assert target_columns(tf.ragged.constant(TAGS), columns, LABELS).to_list() == numbers


def test_entities_are_triples_or_dicts_in_any_order():
    columns = tagged_columns(TEXTS)
    found = target_columns(ENTITIES, columns, LABELS)
    dicts = [
        [{"start": a, "end": b, "type": kind} for a, b, kind in reversed(row)] for row in ENTITIES
    ]
    for given in (found, target_columns(dicts, columns, LABELS)):
        assert given["starts"].to_list() == [[e[0] for e in row] for row in ENTITIES]
        assert given["ends"].to_list() == [[e[1] for e in row] for row in ENTITIES]
        assert given["types"].to_list() == [[e[2].encode() for e in row] for row in ENTITIES]


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        ([["Ada"]], [], "tags for each of the 1 rows. Received: y of 0 rows"),
        ([["a"], ["Ada"]], [["O"], ["O", "O"]], "Row 1: every word needs a tag.*words=1, tags=2"),
        ([["Ada"]], [["B-ORG"]], "Row 0 has a tag that the task does not know.*tag='B-ORG'"),
        ([["Ada"]], [[5]], "Row 0 has a tag.*tag=5"),
        (["Ada"], [], "entities for each of the 1 rows"),
        (["a", "Ada"], [[], [(0, 4, "PER")]], "Row 1: the text ends at character 3.*end=4"),
        (["Ada"], [[(2, 2, "PER")]], "Row 0.*start=2, end=2"),
        (["Ada"], [[(0, 2, "PER"), (1, 3, "PER")]], "Row 0: entities overlap.*start=1"),
        (["Ada"], [[(0, 3, "ORG")]], "Row 0 has an entity of a type.*LOC, PER.*type='ORG'"),
        (["Ada"], [[(0, 3)]], "Row 0: an entity is a dict"),
        (["Ada"], [[(0.5, 3, "PER")]], "Row 0: start and end count characters.*start=0.5, end=3"),
        (["Ada"], [[{"start": 0, "end": 3}]], "Row 0: an entity is a dict"),
    ],
)
def test_wrong_tags_and_entities_name_their_row(rows, y, message):
    with pytest.raises(ValueError, match=message):
        target_columns(y, tagged_columns(rows), LABELS)
