"""What is answered about the masks of texts, in Python and by a served graph. Needs NumPy alone."""

from typing import Any

import numpy as np


def mask_answers(outputs: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a dict for each text, fit for JSON.

    Args:
        outputs: what `MaskFiller.answers` or a served model gives, as arrays.

    Returns:
        Dicts of "filled_text" (str) and "masks", a list with for each mask a dict of "position"
        (int, the character at which it begins), "tokens" and "scores" (lists, best first).
    """
    return [
        {
            "filled_text": outputs["filled_text"][row].decode(),
            "masks": [
                {
                    "position": int(position),
                    "tokens": [token.decode() for token in outputs["tokens"][row, mask]],
                    "scores": [float(score) for score in outputs["scores"][row, mask]],
                }
                for mask, position in enumerate(outputs["positions"][row])
                if position >= 0
            ],
        }
        for row in range(len(outputs["filled_text"]))
    ]
