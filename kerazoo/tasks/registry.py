"""The tasks by name, as the command line and exported models call them. Imports no framework."""

import json
from pathlib import Path
from typing import Any

from kerazoo.class_table import ClassTable, class_named

TASKS: ClassTable = {
    "text-classification": ("kerazoo.tasks.text_classifier", "TextClassifier"),
    "text-similarity": ("kerazoo.tasks.text_similarity", "TextSimilarity"),
    "multiple-choice": ("kerazoo.tasks.multiple_choice", "MultipleChoice"),
    "extractive-qa": ("kerazoo.tasks.extractive_qa", "ExtractiveQA"),
    "token-classification": ("kerazoo.tasks.token_classifier", "TokenClassifier"),
    "masked-lm": ("kerazoo.tasks.masked_lm", "MaskedLM"),
    "next-sentence": ("kerazoo.tasks.next_sentence", "NextSentencePredictor"),
    "bert-pretraining": ("kerazoo.tasks.bert_pretrainer", "BertPretrainer"),
    "causal-lm": ("kerazoo.tasks.causal_lm", "CausalLM"),
}
"""Task name: module and class."""


def task_class(name: str) -> Any:
    """Return the class of a task.

    Args:
        name: a key of `TASKS`.

    Raises:
        ValueError: for an unknown name.
    """
    return class_named("task", name, TASKS)


def saved_task_name(folder: str | Path) -> str | None:
    """Return which task a kerazoo preset holds; None if it holds a backbone only.

    Raises:
        ValueError: if the preset holds a task that is none of kerazoo's.
    """
    file = Path(folder) / "task.json"
    if not file.exists():
        return None
    saved = json.loads(file.read_text(encoding="utf-8"))["class_name"]
    for name, (_, class_name) in TASKS.items():
        if class_name == saved:
            return name
    raise ValueError(
        f"{file} holds a task that kerazoo does not know. Received: class_name={saved!r}"
    )
