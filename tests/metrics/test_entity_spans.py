"""Entities against `seqeval`, an oracle of conlleval, and by hand."""

import random

import pytest
from seqeval import scheme
from seqeval.metrics import sequence_labeling as labeling

from kerazoo.metrics.entity_spans import bio_tags, entity_spans, illegal_moves, split_tag

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-X-Y", "I-X-Y"]
ALL_TAGS = [*TAGS, "E-PER", "S-PER", "E-LOC", "S-LOC"]


def conlleval(tags):
    """The rules of conlleval: where a chunk begins and where it ends, tag by tag."""
    found, start, before, kind_before = [], 0, "O", ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        ends = (
            before in ("E", "S")
            or (before in ("B", "I") and prefix in ("B", "S", "O"))
            or (before != "O" and kind_before != kind)
        )
        begins = (
            prefix in ("B", "S")
            or (before in ("E", "S", "O") and prefix in ("E", "I"))
            or (prefix != "O" and kind_before != kind)
        )
        if ends and before != "O":
            found.append((kind_before, start, i))
        if begins:
            start = i
        before, kind_before = prefix, kind
    return found


def sequences(tags, count=400, seed=5):
    chooser = random.Random(seed)
    return [[chooser.choice(tags) for _ in range(chooser.randint(0, 13))] for _ in range(count)]


@pytest.mark.parametrize("tags", [TAGS, ALL_TAGS])
def test_default_mode_is_that_of_conlleval(tags):
    for sequence in sequences(tags):
        assert entity_spans(sequence) == conlleval(sequence)


def test_both_modes_equal_seqeval():
    for sequence in filter(None, sequences(TAGS)):
        expected = [(kind, a, b + 1) for kind, a, b in labeling.get_entities(sequence)]
        assert entity_spans(sequence) == expected
        strict = scheme.Tokens(sequence, scheme.IOB2).entities
        assert entity_spans(sequence, "strict") == [(e.tag, e.start, e.end) for e in strict]


def test_modes_by_hand():
    tags = ["I-PER", "I-PER", "O", "B-LOC", "I-PER", "B-PER", "I-PER", "B-PER", "I-LOC"]
    expected = [
        ("PER", 0, 2),
        ("LOC", 3, 4),
        ("PER", 4, 5),
        ("PER", 5, 7),
        ("PER", 7, 8),
        ("LOC", 8, 9),
    ]
    assert entity_spans(tags) == expected
    assert entity_spans(tags, "strict") == [expected[i] for i in (1, 3, 4)]
    assert illegal_moves(tags) == 3
    assert illegal_moves(bio_tags(entity_spans(tags), len(tags))) == 0
    with pytest.raises(ValueError, match="mode"):
        entity_spans(tags, "lenient")


def test_spans_become_tags_again():
    for sequence in sequences(TAGS):
        spans = entity_spans(sequence)
        tags = bio_tags(spans, len(sequence))
        assert entity_spans(tags, "strict") == entity_spans(tags) == spans


@pytest.mark.parametrize(
    ("tag", "parts"),
    [
        ("O", ("O", "")),
        ("B-PER", ("B", "PER")),
        ("I-X-Y", ("I", "X-Y")),
        ("NOUN", ("I", "NOUN")),
        ("B-", ("I", "B-")),
        ("Q-PER", ("I", "Q-PER")),
    ],
)
def test_tags_have_a_prefix_and_a_type(tag, parts):
    assert split_tag(tag) == parts
