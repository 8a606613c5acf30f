"""Banned moves against trying every short sequence of tags."""

import itertools

import pytest

from kerazoo.data.tag_schemes import TagError, to_bio
from kerazoo.tasks.crf_moves import illegal_tag_moves


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        ("bio", ["I-A", "O", "B-A", "B-C", "I-C"]),
        ("bioes", ["O", "B-A", "I-A", "E-A", "S-A", "B-C", "E-C"]),
    ],
)
def test_what_is_not_banned_is_what_the_scheme_allows(scheme, labels):
    moves = illegal_tag_moves(labels)
    for path in itertools.chain.from_iterable(
        itertools.product(range(len(labels)), repeat=size) for size in (1, 2, 3)
    ):
        banned = (
            path[0] in moves["forbidden_starts"]
            or path[-1] in moves["forbidden_ends"]
            or any(pair in moves["forbidden_transitions"] for pair in itertools.pairwise(path))
        )
        try:
            to_bio([labels[tag] for tag in path], scheme)
        except TagError:
            assert banned
        else:
            assert not banned


def test_other_tags_have_no_illegal_moves():
    moves = illegal_tag_moves(["NOUN", "VERB", "O", "I-X"])
    assert not any(moves.values())
