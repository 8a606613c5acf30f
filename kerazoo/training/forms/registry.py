"""The form of each task by name."""

import importlib

from kerazoo.checks import check_one_of
from kerazoo.training.forms.base import Form

FORMS: dict[str, tuple[str, str]] = {
    "text-classification": ("text_classification", "TextClassificationForm"),
    "text-similarity": ("text_similarity", "TextSimilarityForm"),
    "multiple-choice": ("multiple_choice", "MultipleChoiceForm"),
    "causal-lm": ("causal_lm", "CausalLMForm"),
}
"""Task name: module of this package and class."""


def form_of(task_name: str) -> Form:
    """Return the form of a task.

    Args:
        task_name: a key of `FORMS`.

    Raises:
        ValueError: for an unknown name.
    """
    check_one_of("task", task_name, FORMS)
    module, class_name = FORMS[task_name]
    form: Form = getattr(importlib.import_module(f"kerazoo.training.forms.{module}"), class_name)()
    return form
