"""Where rows to train on come from: shards, or texts that become rows on the fly."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import tensorflow as tf

from kerazoo.data.row_format import RowFormat

GROUP_ROWS = 65_536
"""About so many rows are in memory at a time, and are shuffled together."""


class RowSource(Protocol):
    """Rows in groups that fit into memory; each epoch has the same number of groups.

    Attributes:
        row_format: how a row lies in its record.
        training_rows: int, rows of an epoch.
        held_out_rows: int, rows for validation, in no epoch.
        mean_tokens: float, real tokens of a row on average, special tokens included.
        fingerprint: str, which differs for other rows.
    """

    row_format: RowFormat
    training_rows: int
    held_out_rows: int
    mean_tokens: float
    fingerprint: str

    def group_sizes(self, epoch: int) -> list[int]:
        """Return the rows of each group of an epoch, in order."""

    def groups(self, first: int) -> tf.data.Dataset:
        """Return the endless groups from number `first` on, counted through all epochs.

        Returns:
            A dataset of each group's number, () int64, and its records in the order in which they
            are stored, (rows,) string. A group without rows is left out.
        """

    def held_out(self) -> tf.data.Dataset:
        """Return the rows for validation, () string, in a fixed order."""

    def place(self, group: int, row: int) -> tuple[str, int]:
        """Return where a row of a group stands, for a message: in what, and its number there.

        Args:
            group: int, counted through all epochs.
            row: int, in the order in which the rows of a group are stored.
        """


def held_out_counts(rows: Sequence[int], fraction: float, limit: int) -> list[int]:
    """Return how many rows of each part of a corpus are held out.

    They are the last ones of each part, so that hardly a document has rows on both sides. All
    together they are the share asked for, rounded, whatever the sizes of the parts.

    Args:
        rows: rows of each part.
        fraction: float, the share to hold out; 0 holds none out, and 1 leaves none to train on.
        limit: int, the most rows to hold out.

    Raises:
        ValueError: if no row would be held out, or none be left.
    """
    total = sum(rows)
    share = min(fraction, limit / total)
    bounds = [round(share * count) for count in accumulate(rows, initial=0)]
    counts = [end - start for start, end in pairwise(bounds)]
    if 0 < fraction < 1 and not 0 < sum(counts) < total:
        raise ValueError(
            f"Of {total} rows {sum(counts)} would be held out to validate on, and both sides need "
            "one. Give more text, validation data of its own, or validation_fraction=0. "
            f"Received: validation_fraction={fraction}"
        )
    return counts
