"""Rows of several texts, which a task reads while a block of code runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def packed_rows(task: Any, is_packed: bool = True) -> Iterator[None]:
    """Let a task read rows of several texts, numbered in `padding_mask`, while the block runs.

    Args:
        task: a task on one of kerazoo's backbones.
        is_packed: bool; False changes nothing.

    Raises:
        ValueError: if the backbone is another one, which would let the texts see each other.
    """
    if not is_packed:
        yield
        return
    if not hasattr(task.backbone, "reads_packed_rows"):
        raise ValueError(
            "Only kerazoo's backbones keep the texts of a packed row apart. "
            f"Received: backbone={type(task.backbone).__name__}"
        )
    try:
        _read_packed_rows(task, True)
        yield
    finally:
        _read_packed_rows(task, False)


def _read_packed_rows(task: Any, is_packed: bool) -> None:
    task.backbone.reads_packed_rows = is_packed
    # What is compiled already reads rows the other way.
    task.train_function = task.test_function = task.predict_function = None
