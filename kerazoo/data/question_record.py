"""A question as it stands in a file, and what messages call it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kerazoo.axes import QUESTION_ID


class QuestionRecord(NamedTuple):
    """One question as it stands in a file, not looked at yet.

    Attributes:
        number: int, which question of the file it is, or on which line it stands, from 1.
        place: the file and the place in it.
        values: `id`, `context`, `question`, `answers`, `is_impossible`: what of them is there.
    """

    number: int
    place: str
    values: Mapping[str, Any]

    @property
    def question_id(self) -> str:
        """The question's id, "" if the file gives none."""
        given = self.values.get(QUESTION_ID)
        return "" if given is None else str(given)

    @property
    def where(self) -> str:
        """The file, the place in it and the question's id, for messages."""
        return place_with_id(self.place, self.question_id)


def place_with_id(place: str, question_id: str) -> str:
    """Return a question's place for a message, with its id where there is one.

    Args:
        place: the file and the place in it.
        question_id: the id, "" if there is none.
    """
    return f"{place} (id {question_id})" if question_id else place
