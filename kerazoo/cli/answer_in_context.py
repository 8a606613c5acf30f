"""The answer to a question, marked in its passage, for a person at a terminal."""

from collections.abc import Mapping
from typing import Any

import click

from kerazoo.axes import ANSWER, CONTEXT, QUESTION

_AROUND = 240
"""Characters of the passage that are shown before and after the answer."""


def is_answer_in_context(answer: Mapping[str, Any]) -> bool:
    """Return whether an answered row is a part of a passage."""
    return CONTEXT in answer and ANSWER in answer


def answer_in_context(answer: Mapping[str, Any]) -> str:
    """Return the question, the passage around the answer with the answer in colour, and its score.

    Args:
        answer: a row and its answer, as `kerazoo.training.predict.predict` yields them.
    """
    start, end, context = answer["start"], answer["end"], answer[CONTEXT]
    lines = [click.style(answer[QUESTION], bold=True)]
    if answer[ANSWER]:
        before, after = context[max(0, start - _AROUND) : start], context[end : end + _AROUND]
        marked = click.style(context[start:end], fg="green", bold=True, underline=True)
        opening = "…" if start > _AROUND else ""
        closing = "…" if end + _AROUND < len(context) else ""
        lines.append(f"{opening}{before}{marked}{after}{closing}")
    else:
        lines.append(click.style("no answer", fg="yellow"))
    others = [
        f"{entry['answer'] or 'no answer'} ({entry['score']:.0%})" for entry in answer["n_best"]
    ]
    lines.append(f"{answer['score']:.0%}, characters {start} to {end}; best: {', '.join(others)}")
    return "\n".join(lines)
