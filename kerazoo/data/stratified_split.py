"""Hold a share of the rows out, the same share of every label."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from kerazoo.checks import check_positive, check_rate


def stratified_split(
    labels: Sequence[str], fraction: float, seed: int
) -> tuple[list[int], list[int]]:
    """Choose rows to hold out, so that every label keeps its share.

    Of each label with two rows or more, at least one row is held out and at least one is kept; a
    label's only row is kept. The same seed gives the same rows.

    Args:
        labels: the label of each row.
        fraction: the share to hold out, above 0 and below 1.
        seed: int, seed of the choice.

    Returns:
        (indices of the rows that are kept, indices of the rows that are held out), both ascending.

    Raises:
        ValueError: if `fraction` is no share, or no label has two rows.
    """
    check_positive("fraction", fraction)
    check_rate("fraction", fraction)
    rows_of = defaultdict(list)
    for index, label in enumerate(labels):
        rows_of[label].append(index)
    generator = np.random.default_rng(seed)
    held_out: list[int] = []
    for label in sorted(rows_of):
        rows = rows_of[label]
        count = min(max(1, round(len(rows) * fraction)), len(rows) - 1)
        held_out.extend(generator.permutation(rows)[:count].tolist())
    if not held_out:
        of_a_label = " of any label" if len(rows_of) > 1 else ""
        raise ValueError(
            f"No row can be held out: there are not two rows{of_a_label}. Give more rows, or a "
            f"validation file. Received: rows={len(labels)}"
        )
    chosen = set(held_out)
    return [index for index in range(len(labels)) if index not in chosen], sorted(held_out)
