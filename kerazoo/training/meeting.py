"""Where all processes of a run meet before they train: all go on, or all end with a sentence."""

import json
from collections.abc import Callable
from typing import Any

from kerazoo.training.process_exchange import LONGEST

Exchange = Callable[[str], list[str]]
"""Tells all processes something, and returns what each has told, by its number."""

_ERROR = "error"
_LONGEST_SENTENCE = LONGEST // 8  # JSON writes a character with up to six bytes


class Meeting:
    """Every process tells what it finds, or why it cannot go on, as often as all others.

    Args:
        exchange: see `Exchange`.
        process: int, the number of this process.

    Attributes:
        exchange: as it was given.
        is_over: bool, whether nothing is told any more.
    """

    def __init__(self, exchange: Exchange, process: int) -> None:
        """Nothing was told yet."""
        self.process = process
        self.is_over = False
        self.exchange = exchange

    @property
    def is_chief(self) -> bool:
        """Whether this is the first process."""
        return self.process == 0

    def tell(self, found: dict[str, Any]) -> list[dict[str, Any]]:
        """Tell all others what this process found, and return what each has told.

        Args:
            found: short; JSON.

        Raises:
            ValueError: if one of them cannot go on; the meeting is over then.
        """
        told = [json.loads(words) for words in self.exchange(json.dumps(found))]
        for number, each in enumerate(told):
            if _ERROR in each:
                self.is_over = True
                raise ValueError(
                    f"Process {number + 1} of {len(told)} cannot begin, so none does. It says: "
                    f"{each[_ERROR]}"
                )
        return told

    def excuse(self, error: Exception) -> None:
        """Tell all others why this process cannot go on, unless the meeting is over.

        Raises:
            Exception: see `kerazoo.training.process_exchange.exchange`.
        """
        if self.is_over:
            return
        self.is_over = True
        sentence = str(error) or type(error).__name__
        self.exchange(json.dumps({_ERROR: sentence[:_LONGEST_SENTENCE]}))
