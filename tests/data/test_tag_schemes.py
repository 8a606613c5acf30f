"""Schemes against an oracle: entities written down in each scheme, read back as BIO."""

import random

import pytest

from kerazoo.data.tag_schemes import TagError, to_bio
from kerazoo.metrics.entity_spans import EntitySpan, bio_tags


def written(spans, count, scheme):
    """The tags of entities in a scheme, entity by entity."""
    tags = ["O"] * count
    for number, (kind, first, behind) in enumerate(spans):
        size = behind - first
        if scheme == "bioes":
            letters = "S" if size == 1 else "B" + "I" * (size - 2) + "E"
        elif scheme == "iob1":
            touches = number > 0 and spans[number - 1][::2] == (kind, first)
            letters = ("B" if touches else "I") + "I" * (size - 1)
        else:
            letters = "B" + "I" * (size - 1)
        tags[first:behind] = [f"{letter}-{kind}" for letter in letters]
    return tags


def random_spans(chooser):
    spans, position = [], 0
    while position < 15:
        position += chooser.choice([0, 0, 1, 3])
        size = chooser.randint(1, 4)
        spans.append(EntitySpan(chooser.choice(["PER", "LOC"]), position, position + size))
        position += size
    return spans, position + 1


@pytest.mark.parametrize("scheme", ["bio", "iob1", "bioes"])
def test_each_scheme_becomes_bio(scheme):
    chooser = random.Random(11)
    for _ in range(300):
        spans, count = random_spans(chooser)
        assert to_bio(written(spans, count, scheme), scheme) == bio_tags(spans, count)
    assert to_bio([], scheme) == []


@pytest.mark.parametrize(
    ("tags", "scheme", "index", "message"),
    [
        (["O", "I-PER"], "bio", 1, "I-PER follows O"),
        (["I-PER"], "bio", 0, "I-PER is the first tag"),
        (["B-PER", "I-LOC"], "bio", 1, "I-LOC follows B-PER"),
        (["B-PER", "E-PER"], "bio", 1, "O or B-TYPE, I-TYPE, and this is 'E-PER'"),
        (["PER"], "bio", 0, "this is 'PER'"),
        (["O", "B-"], "bio", 1, "this is 'B-'"),
        (["O", ""], "bio", 1, "this is ''"),
        (["I-PER", "B-LOC"], "iob1", 1, "B-LOC follows no entity of its type"),
        (["B-PER"], "iob1", 0, "B-PER follows no entity"),
        (["B-PER", "O"], "bioes", 0, "not ended by E-PER"),
        (["B-PER", "I-PER"], "bioes", 1, "not ended by E-PER"),
        (["B-PER", "E-LOC"], "bioes", 0, "not ended by E-PER"),
        (["S-PER", "E-PER"], "bioes", 1, "E-PER follows S-PER"),
        (["B-PER", "E-PER", "I-PER", "E-PER"], "bioes", 2, "I-PER follows E-PER"),
    ],
)
def test_what_a_scheme_does_not_allow(tags, scheme, index, message):
    with pytest.raises(TagError, match=message) as caught:
        to_bio(tags, scheme)
    assert caught.value.index == index


def test_unknown_scheme():
    with pytest.raises(ValueError, match="'bio', 'iob1', 'bioes'.*scheme='iob'"):
        to_bio(["O"], "iob")
