"""What is answered about passages, in Python and by a served graph. Needs NumPy alone."""

from typing import Any

import numpy as np


def span_answers(outputs: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a dict for each question, fit for JSON.

    Args:
        outputs: what `SpanDecoder.decode` or a served model gives, as arrays.

    Returns:
        Dicts of "answer" (str, `context[start:end]`, "" for no answer), "start" and "end" (int),
        "score" (float, its probability), "no_answer_score" (float, the score of "no answer" less
        that of the best span) and "n_best", a list of dicts of "answer", "start", "end" and
        "score", best first.
    """
    return [
        {
            "answer": outputs["answer"][row].decode(),
            "start": int(outputs["start"][row]),
            "end": int(outputs["end"][row]),
            "score": float(outputs["score"][row]),
            "no_answer_score": float(outputs["no_answer_score"][row]),
            "n_best": [
                {
                    "answer": outputs["n_best_answers"][row, rank].decode(),
                    "start": int(outputs["n_best_starts"][row, rank]),
                    "end": int(outputs["n_best_ends"][row, rank]),
                    "score": float(score),
                }
                for rank, score in enumerate(outputs["n_best_scores"][row])
                if score > 0
            ],
        }
        for row in range(len(outputs["answer"]))
    ]
