"""Moves between tags that no entity makes, for a CRF that bans them."""

from collections.abc import Sequence
from typing import Any

from kerazoo.metrics.entity_spans import OUTSIDE, split_tag


def illegal_tag_moves(labels: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `kerazoo.layers.crf.CRF` that ban illegal moves.

    I- (and E-) go on only with an entity of their type; where there are E- or S-, an entity of
    several words is ended by E-. Types without B- have no illegal moves.

    Args:
        labels: the tags in the order of the classes.

    Returns:
        dict of `forbidden_starts`, `forbidden_transitions` and `forbidden_ends`.
    """
    parts = [split_tag(label) for label in labels]
    begun = {kind for prefix, kind in parts if prefix == "B"}
    needs_end = any(label[:2] in ("E-", "S-") for label in labels)

    def goes_on(part: tuple[str, str]) -> bool:
        return part[0] in ("I", "E") and part[1] in begun

    def is_open(part: tuple[str, str]) -> bool:
        return part[0] in ("B", "I") and part[1] in begun

    numbered = list(enumerate(parts))
    outside = (OUTSIDE, "")

    def is_illegal(before: tuple[str, str], after: tuple[str, str]) -> bool:
        continues = is_open(before) and before[1] == after[1]
        if goes_on(after):
            return not continues
        return needs_end and is_open(before)

    return {
        "forbidden_starts": [n for n, part in numbered if is_illegal(outside, part)],
        "forbidden_transitions": [
            (i, j) for i, before in numbered for j, after in numbered if is_illegal(before, after)
        ],
        "forbidden_ends": [n for n, part in numbered if is_illegal(part, outside)],
    }
