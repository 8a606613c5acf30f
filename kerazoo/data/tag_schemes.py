"""Schemes in which files mark entities, turned into BIO: B- begins one, I- goes on with it."""

from collections.abc import Sequence

from kerazoo.checks import check_one_of
from kerazoo.metrics.entity_spans import OUTSIDE

BIO, IOB1, BIOES = "bio", "iob1", "bioes"
TAG_SCHEMES = (BIO, IOB1, BIOES)

_PREFIXES = {BIO: "BI", IOB1: "BI", BIOES: "BIES"}


class TagError(ValueError):
    """A tag that its scheme does not allow.

    Args:
        index: int, which of the tags it is.
        message: what is wrong with it.
    """

    def __init__(self, index: int, message: str) -> None:
        """Keep the place."""
        super().__init__(message)
        self.index = index


def to_bio(tags: Sequence[str], scheme: str) -> list[str]:
    """Return BIO tags for the tags of a sentence.

    Args:
        tags: the tag of each word.
        scheme: "bio" (also called IOB2): B- begins an entity, I- goes on with it. "iob1": I- begins
            an entity too, and B- only one that touches one of the same type before it. "bioes"
            (also called IOBES or BILOU with other letters): E- ends an entity of several words, S-
            is one of one word.

    Raises:
        TagError: for a tag that the scheme does not allow there.
        ValueError: for an unknown scheme.
    """
    check_one_of("scheme", scheme, TAG_SCHEMES)
    parts = [_split(index, tag, scheme) for index, tag in enumerate(tags)]
    if scheme == BIOES:
        _check_ends(parts, tags)
    converted = []
    before = (OUTSIDE, "")
    for index, (prefix, kind) in enumerate(parts):
        is_open = before[1] == kind and before[0] in ("BI" if scheme == BIOES else "BIES")
        if scheme == IOB1:
            if prefix == "B" and before[1] != kind:
                raise TagError(
                    index, f"{tags[index]} follows no entity of its type, and only there iob1 has B"
                )
            prefix = "B" if prefix == "I" and not is_open else prefix
        elif prefix in ("I", "E") and not is_open:
            raise TagError(
                index,
                f"{tags[index]} {_after(tags, index)}, where no entity of its type is open",
            )
        before = (prefix, kind)
        bio = {"S": "B", "E": "I"}.get(prefix, prefix)
        converted.append(OUTSIDE if bio == OUTSIDE else f"{bio}-{kind}")
    return converted


def _split(index: int, tag: str, scheme: str) -> tuple[str, str]:
    """Return prefix and type."""
    if tag == OUTSIDE:
        return OUTSIDE, ""
    prefix, dash, kind = tag.partition("-")
    if not dash or not kind or prefix not in tuple(_PREFIXES[scheme]):
        known = ", ".join(f"{letter}-TYPE" for letter in _PREFIXES[scheme])
        raise TagError(index, f"a tag of the scheme {scheme} is O or {known}, and this is {tag!r}")
    return prefix, kind


def _check_ends(parts: Sequence[tuple[str, str]], tags: Sequence[str]) -> None:
    """Raise TagError if an entity is not ended by E-."""
    followers = [*parts[1:], (OUTSIDE, "")]
    for index, ((prefix, kind), follower) in enumerate(zip(parts, followers, strict=False)):
        if prefix in ("B", "I") and (follower[0] not in ("I", "E") or follower[1] != kind):
            raise TagError(index, f"the entity of {tags[index]} is not ended by E-{kind}")


def _after(tags: Sequence[str], index: int) -> str:
    return f"follows {tags[index - 1]}" if index else "is the first tag"
