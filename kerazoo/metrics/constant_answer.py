"""The best of the answers that are the same part of every passage: what a model has to beat."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kerazoo.metrics.cmrc_f1 import cmrc_scores, has_han
from kerazoo.metrics.span_f1 import squad_scores

_WORDS = tuple((first, first + length) for first in range(0, 40, 4) for length in (2, 8, 30))
_CHARACTERS = tuple(
    (first, first + length) for first in range(0, 100, 10) for length in (5, 20, 75)
)


class ConstantAnswer(NamedTuple):
    """An answer that does not look at the question.

    Attributes:
        name: which part of every passage it is.
        scores: those of `squad_scores`, and for Chinese answers of `cmrc_scores` too.
    """

    name: str
    scores: dict[str, float | int]


def best_constant_answer(
    contexts: Sequence[str], right_answers: Sequence[Sequence[str]]
) -> ConstantAnswer:
    """Return the best of 30 parts of every passage, and of no answer at all.

    The parts are runs of 2, 8 or 30 words; where answers are Chinese, of 5, 20 or 75 characters,
    and the best is that of the highest F1 of CMRC 2018. It is chosen on the questions that it is
    measured on, which flatters it.

    Args:
        contexts: the passage of each question; at least one.
        right_answers: the right answers of each; none where there is no answer.

    Raises:
        ValueError: if there are no questions, or not as many as passages.
    """
    squad_scores(contexts, right_answers)  # checks the numbers
    is_chinese = has_han([text for texts in right_answers for text in texts])
    measure: Callable[..., dict[str, float]] = cmrc_scores if is_chinese else squad_scores
    key = "cmrc_f1" if is_chinese else "f1"
    constants = dict(_constants(contexts, is_chinese))
    best = max(constants, key=lambda name: measure(constants[name], right_answers)[key])
    scores = squad_scores(constants[best], right_answers)
    if is_chinese:
        scores |= cmrc_scores(constants[best], right_answers)
    return ConstantAnswer(best, scores)


def _constants(contexts: Sequence[str], of_characters: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield each constant answer's name and what it answers to each question."""
    yield "no answer", [""] * len(contexts)
    unit, parts = ("characters", _CHARACTERS) if of_characters else ("words", _WORDS)
    for first, last in parts:
        answers = [
            text[first:last] if of_characters else " ".join(text.split()[first:last])
            for text in contexts
        ]
        yield f"{unit} {first + 1} to {last}", answers
