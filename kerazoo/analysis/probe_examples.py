"""The words or texts that a probe sees: those of the data whose states the model has."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Self

import numpy as np

from kerazoo.analysis.probe_data import SEQUENCE, TOKEN, ProbeData, check_labels
from kerazoo.analysis.probe_states import ProbeStates
from kerazoo.data.stratified_split import stratified_split
from kerazoo.training.counted import counted


@dataclass(frozen=True)
class ProbeExamples:
    """What is told apart.

    Args:
        data: where the examples come from.
        rows: (examples,) int64, the sentence or text of the data that each belongs to.
        label_names: the different labels of the examples, in order.
        classes: (examples,) int64, the number of each example's label.
        types: what each example is: its word, or its text.
        left_out: int, words or texts of the data that are no examples.
    """

    data: ProbeData
    rows: np.ndarray
    label_names: list[str]
    classes: np.ndarray
    types: list[Hashable]
    left_out: int

    @classmethod
    def of(cls, data: ProbeData, states: ProbeStates, sequence_length: int) -> Self:
        """Return the examples whose states there are.

        Args:
            data: labelled words or texts.
            states: their states; words behind the limit and what has no token have none.
            sequence_length: int, the limit, for the message.

        Raises:
            ValueError: if fewer than two labels are left.
        """
        places = list(zip(states.rows.tolist(), states.words.tolist(), strict=True))
        labels = [data.labels[row][word] for row, word in places]
        left_out = sum(len(row) for row in data.labels) - len(places)
        names = sorted(set(labels))
        why = left_out_words(data.level, left_out, sequence_length)
        check_labels(data.name, names, f"{why}. " if why else "")
        number_of = {name: number for number, name in enumerate(names)}
        if data.level == TOKEN:
            types: list[Hashable] = [data.rows[row][word] for row, word in places]
        else:
            types = [data.rows[row] for row, _ in places]
        classes = np.array([number_of[label] for label in labels], "int64")
        return cls(data, states.rows, names, classes, types, left_out)

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the examples to train on and the held-out ones; a sentence is on one side.

        Args:
            fraction: float, the share of the rows that is held out.
            seed: int, seed of the choice.

        Raises:
            ValueError: if one of the two has none.
        """
        _, held_out = stratified_split(_kinds(self.data), fraction, seed)
        is_held_out = np.isin(self.rows, held_out)
        if is_held_out.all() or not is_held_out.any():
            raise ValueError(
                f"{self.data.name}: both the rows to train on and those held out need an example. "
                f"Give more rows. Received: {len(self.data.rows)} rows, test_fraction={fraction}"
            )
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def check_can_be_split(data: ProbeData) -> None:
    """Raise ValueError unless some rows can be trained on while others are held out."""
    kinds = _kinds(data)
    if len(set(kinds)) < len(kinds):
        return
    if data.level == TOKEN:
        why = "one sentence cannot be split into rows to train on and rows held out"
    else:
        why = "no label has two texts, one to train on and one that is held out"
    raise ValueError(
        f"{data.name}: {why}. Give more rows. Received: {counted(len(data.rows), 'row')}"
    )


def left_out_words(level: str, left_out: int, sequence_length: int) -> str:
    """Return how many words, or texts, are left out and why; "" if none is.

    Args:
        level: "token" or "sequence".
        left_out: int, how many.
        sequence_length: int, the most tokens of a row.
    """
    if not left_out:
        return ""
    one = left_out == 1
    if level == SEQUENCE:
        return f"{counted(left_out, 'text')} {'has' if one else 'have'} no token, and {_are(one)}"
    lie = "lies" if one else "lie"
    have = "has" if one else "have"
    return (
        f"{counted(left_out, 'word')} {lie} behind {counted(sequence_length, 'token')}, or {have} "
        f"no token, and {_are(one)}"
    )


def _are(one: bool) -> str:
    return f"{'is' if one else 'are'} left out"


def _kinds(data: ProbeData) -> list[str]:
    """Return what keeps its share in a split: every label of texts; all sentences are alike."""
    return [row[0] if data.level == SEQUENCE else "" for row in data.labels]
