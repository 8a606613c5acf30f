"""Exact match and F1 of answers to questions about passages, as SQuAD measures them."""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

_PUNCTUATION = frozenset(string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

Measure = Callable[[str, str], float]
"""Takes an answer that was given and one that is right, and returns a number from 0 to 1."""


def normalized_answer(text: str) -> str:
    """Return an answer in lower case, without punctuation, articles and white space beyond one."""
    kept = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", kept).split())


def exact_match(answer: str, right: str) -> float:
    """Return 1 if two answers are equal when normalised, else 0."""
    return float(normalized_answer(answer) == normalized_answer(right))


def span_f1(answer: str, right: str) -> float:
    """Return the F1 of the words of an answer: of how many words two answers share.

    If either has no word, as where there is no answer, it is 1 if both have none, else 0.
    """
    words, right_words = normalized_answer(answer).split(), normalized_answer(right).split()
    if not words or not right_words:
        return float(words == right_words)
    shared = sum((Counter(words) & Counter(right_words)).values())
    return 2 * shared / (len(words) + len(right_words))


def best_over_answers(measure: Measure, answer: str, right_answers: Sequence[str]) -> float:
    """Return the highest measure over the right answers; where there is none, "" is right."""
    return max(measure(answer, right) for right in right_answers or ("",))


def squad_scores(
    answers: Sequence[str], right_answers: Sequence[Sequence[str]]
) -> dict[str, float | int]:
    """Return what SQuAD's evaluation says, as shares from 0 to 1.

    Args:
        answers: the answer given to each question, "" for no answer.
        right_answers: the right answers of each; none where there is no answer.

    Returns:
        `exact_match` and `f1`; if some of the questions have no answer, also the number of
        questions and both measures of those with an answer, `has_answer_…`, and of those without,
        `no_answer_…`, as SQuAD v2.0's evaluation splits them.

    Raises:
        ValueError: if there are no answers, or not as many as questions.
    """
    if len(answers) != len(right_answers) or not answers:
        raise ValueError(
            "There must be one answer for each question, and at least one question. "
            f"Received: {len(answers)} answers, {len(right_answers)} questions"
        )
    groups = {"": list(zip(answers, right_answers, strict=True))}
    without = [row for row in groups[""] if not row[1]]
    if without:
        groups["has_answer_"] = [row for row in groups[""] if row[1]]
        groups["no_answer_"] = without
    scores: dict[str, float | int] = {}
    for prefix, rows in groups.items():
        if prefix:
            scores[f"{prefix}rows"] = len(rows)
        for name, measure in (("exact_match", exact_match), ("f1", span_f1)):
            values = [best_over_answers(measure, *row) for row in rows]
            if values:
                scores[f"{prefix}{name}"] = sum(values) / len(values)
    return scores
