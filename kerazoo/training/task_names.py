"""The tasks that can be fine-tuned, by the names used on the command line. Light to import."""

import importlib
from typing import Any

from kerazoo.checks import check_one_of

TASKS = {"text-classification": ("kerazoo.tasks.text_classifier", "TextClassifier")}
"""Module and class of each task."""


def task_class(name: str) -> Any:  # noqa: ANN401
    """Import the class of a task.

    Args:
        name: a key of `TASKS`.

    Raises:
        ValueError: for an unknown name.
    """
    check_one_of("task", name, TASKS)
    module, class_name = TASKS[name]
    return getattr(importlib.import_module(module), class_name)
