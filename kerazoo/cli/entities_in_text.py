"""The entities of a text, marked in it, for a person at a terminal."""

from collections.abc import Mapping
from typing import Any

import click

from kerazoo.axes import ENTITIES, TAGS, TEXT, WORDS
from kerazoo.metrics.entity_spans import entity_spans

_COLOURS = ("green", "cyan", "magenta", "yellow", "blue", "red")


def has_entities_in_text(answer: Mapping[str, Any]) -> bool:
    """Return whether an answered row is a text with entities."""
    return ENTITIES in answer and (TEXT in answer or TAGS in answer)


def entities_in_text(answer: Mapping[str, Any]) -> str:
    """Return the text with its entities in colour, the type behind each; a type has one colour.

    Args:
        answer: a row and its answer, as `kerazoo.training.predict.predict` yields them.
    """
    text, spans = _text_and_spans(answer)
    parts, position = [], 0
    for start, end, kind in spans:
        colour = _COLOURS[sum(kind.encode()) % len(_COLOURS)]
        marked = click.style(text[start:end], fg=colour, bold=True, underline=True)
        parts += [text[position:start], marked, click.style(f"[{kind}]", fg=colour, dim=True)]
        position = end
    return "".join([*parts, text[position:]])


def _text_and_spans(answer: Mapping[str, Any]) -> tuple[str, list[tuple[int, int, str]]]:
    """Return a text and the characters and types of its entities; words are set apart by spaces."""
    if TEXT in answer:
        return answer[TEXT], [(e["start"], e["end"], e["type"]) for e in answer[ENTITIES]]
    words, spans = answer[WORDS], []
    for kind, first, behind in entity_spans(answer[TAGS]):
        start = len(" ".join(words[:first])) + (first > 0)
        spans.append((start, start + len(" ".join(words[first:behind])), kind))
    return " ".join(words), spans
