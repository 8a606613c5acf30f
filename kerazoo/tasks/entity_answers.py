"""What is answered about entities in texts, in Python and by a served graph. Needs NumPy alone."""

from typing import Any

import numpy as np


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


_KEYS = ("entities", "types", "starts", "ends", "scores")
