"""Precision, recall and F1 of entities: of each type and of all together."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any


def entity_report(
    expected: Sequence[Iterable[tuple[str, Hashable, Hashable]]],
    found: Sequence[Iterable[tuple[str, Hashable, Hashable]]],
) -> dict[str, Any]:
    """Compare the entities of texts; one is right if type, beginning and end are (CoNLL 2003).

    Args:
        expected: for each text its true entities, each (type, beginning, end), counted in words or
            in characters.
        found: for each text the entities that were found.

    Returns:
        `precision`, `recall` and `f1` over all entities (micro), `macro_f1`, the mean F1 of the
        types that occur, and `types`: for each of these `precision`, `recall`, `f1` and `support`,
        its true entities. A share of nothing is 0.

    Raises:
        ValueError: if there are not as many texts in both.
    """
    if len(expected) != len(found):
        raise ValueError(
            "Every text needs its true entities and those found. "
            f"Received: {len(expected)} and {len(found)} texts"
        )
    right: Counter[str] = Counter()
    true, answered = (
        Counter(kind for text in texts for kind, _, _ in set(text)) for texts in (expected, found)
    )
    for true_ones, found_ones in zip(expected, found, strict=True):
        right.update(kind for kind, _, _ in set(true_ones) & set(found_ones))
    types = {
        kind: {**_measures(right[kind], answered[kind], true[kind]), "support": true[kind]}
        for kind in sorted({*true, *answered})
    }
    f1s = [measures["f1"] for measures in types.values()]
    return {
        **_measures(right.total(), answered.total(), true.total()),
        "macro_f1": sum(f1s) / len(f1s) if f1s else 0.0,
        "types": types,
    }


def _measures(right: int, answered: int, true: int) -> dict[str, float]:
    return {
        "precision": right / answered if answered else 0.0,
        "recall": right / true if true else 0.0,
        "f1": 2 * right / (answered + true) if answered + true else 0.0,
    }
