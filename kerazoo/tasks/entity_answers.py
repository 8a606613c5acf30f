"""What is answered about entities in texts, in Python and by a served graph. Needs NumPy alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerazoo.axes import TAGS, WORDS
from kerazoo.metrics.entity_spans import OUTSIDE


def entity_answers(outputs: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a dict for each text, fit for JSON.

    Args:
        outputs: what a served model gives, as arrays.

    Returns:
        Dicts of "entities", a list of dicts of "text" (str, `text[start:end]`), "type" (str),
        "start" and "end" (int, characters, half-open) and "score" (float), in order, and "count",
        how many the text has: more than are listed if it has many.
    """
    return [
        {
            "entities": [
                entity_answer(*(outputs[key][row, place] for key in _KEYS))
                for place in range(min(int(count), outputs["starts"].shape[1]))
            ],
            "count": int(count),
        }
        for row, count in enumerate(outputs["count"])
    ]


def entity_answer(text: bytes, kind: bytes, start: int, end: int, score: float) -> dict[str, Any]:
    """Return an entity as a dict, fit for JSON.

    Args:
        text: UTF-8, the slice of the text.
        kind: UTF-8, its type.
        start: int, its first character.
        end: int, the character behind it.
        score: float.
    """
    return {
        "text": text.decode(),
        "type": kind.decode(),
        "start": int(start),
        "end": int(end),
        "score": float(score),
    }


def tags_of_words(
    words: Sequence[str], separator: str, entities: Sequence[dict[str, Any]]
) -> dict[str, list[str]]:
    """Return given words and their BIO tags for entities that were found in their joined text.

    Args:
        words: of a text.
        separator: what stood between them.
        entities: from `entity_answer`; a word belongs to one that shares a character with it.
    """
    tags, position = [], 0
    before: dict[str, Any] | None = None
    for word in words:
        end = position + len(word)
        entity = next((e for e in entities if e["start"] < end and e["end"] > position), None)
        prefix = "I" if entity is before else "B"
        tags.append(OUTSIDE if entity is None else f"{prefix}-{entity['type']}")
        before, position = entity, end + len(separator)
    return {WORDS: list(words), TAGS: tags}


_KEYS = ("entities", "types", "starts", "ends", "scores")
