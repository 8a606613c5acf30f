"""Entities of a sequence of tags: which runs of words they are."""

from collections.abc import Sequence
from typing import NamedTuple

from kerazoo.checks import check_one_of

OUTSIDE = "O"
"""The tag of words that belong to no entity."""

MODES = ("default", "strict")


class EntitySpan(NamedTuple):
    """A run of words.

    Attributes:
        type: str, the entity's type.
        first: int, its first word.
        behind: int, the word behind its last one.
    """

    type: str
    first: int
    behind: int


def split_tag(tag: str) -> tuple[str, str]:
    """Return prefix and type of a tag.

    Args:
        tag: "O", a type behind B-, I-, E- or S-, or a bare type, which counts as I-.

    Returns:
        The prefix, one of O, B, I, E, S, and the type, "" for O.
    """
    if tag == OUTSIDE:
        return OUTSIDE, ""
    prefix, dash, kind = tag.partition("-")
    return (prefix, kind) if dash and kind and prefix in set("BIES") else ("I", tag)


def entity_spans(tags: Sequence[str], mode: str = "default") -> list[EntitySpan]:
    """Return the entities of a sequence in order, as `seqeval` finds them.

    Args:
        tags: the tag of each word.
        mode: "default" lets an I- that goes on with no entity of its type begin one, as conlleval
            does; in "strict", for BIO tags, only B- begins an entity and other I- are none.

    Raises:
        ValueError: for another mode.
    """
    check_one_of("mode", mode, MODES)
    found: list[EntitySpan] = []
    before = (OUTSIDE, "")
    for position, (prefix, kind) in enumerate(map(split_tag, tags)):
        goes_on = (
            prefix in ("I", "E")
            and before[1] == kind
            and before[0] in ("B", "I")
            and bool(found)
            and found[-1].behind == position
        )
        if goes_on:
            found[-1] = found[-1]._replace(behind=position + 1)
        elif prefix in ("B", "S") or (mode == "default" and prefix != OUTSIDE):
            found.append(EntitySpan(kind, position, position + 1))
        before = (prefix, kind)
    return found


def bio_tags(spans: Sequence[EntitySpan], count: int) -> list[str]:
    """Return the BIO tags of `count` words that hold these entities."""
    tags = [OUTSIDE] * count
    for kind, first, behind in spans:
        tags[first:behind] = [f"B-{kind}", *[f"I-{kind}"] * (behind - first - 1)]
    return tags


def illegal_moves(tags: Sequence[str]) -> int:
    """Return how many tags of a BIO sequence are an I- that goes on with no entity of its type."""
    before = (OUTSIDE, "")
    count = 0
    for text, tag in zip(tags, map(split_tag, tags), strict=True):
        goes_on = before[0] in ("B", "I") and before[1] == tag[1]
        count += text.startswith("I-") and not goes_on
        before = tag
    return count
