"""Answers from a preset or a Hugging Face folder, computed by Keras."""

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import keras

from kerazoo.conversion.source import KERAZOO, open_checkpoint
from kerazoo.tasks.registry import task_class
from kerazoo.tasks.row_error import RowError
from kerazoo.tasks.truncation import TruncationWarning
from kerazoo.training.generation_settings import GenerationSettings
from kerazoo.training.predictor import Answer, trained_task

_MULTIPLE = 16
# The method of each task that answers rows with dicts.
_METHODS = {
    "text-classification": "classify",
    "text-similarity": "compare",
    "multiple-choice": "choose",
    "extractive-qa": "answer",
    "token-classification": "tag",
    "masked-lm": "mask_answers",
    "next-sentence": "classify",
    "bert-pretraining": "mask_answers",
}


def padding_multiple() -> int | None:
    """Return what a batch's width is rounded up to; None where every width is compiled anew."""
    return None if keras.config.backend() == "jax" else _MULTIPLE


class PresetPredictor:
    """A task as a `kerazoo.training.predictor.Predictor`.

    Args:
        task: the trained task.
        generation: how a language model continues texts; None is the defaults.
    """

    def __init__(self, task: Any, generation: GenerationSettings | None = None) -> None:
        """Keep the task."""
        if task.preprocessor is None:
            raise ValueError(
                "The task was saved without a tokenizer, so it cannot read texts. "
                f"Received: task={task.name!r} with preprocessor=None"
            )
        self.task = task
        self.task_name: str = task.task_name
        self.preprocessor = task.preprocessor
        self.generation = generation or GenerationSettings()
        if self.task_name == "causal-lm":
            # A sampler takes no more candidates than there are tokens.
            top_k = min(self.generation.top_k, task.backbone.config.vocabulary_size)
            self.generation = dataclasses.replace(self.generation, top_k=top_k)
        self.labels: list[str] = list(task.labels or [])
        self.pairs: bool | None = task.pairs
        self.load_note: str | None = None
        self.sequence_length: int | None = task.preprocessor.sequence_length
        self.truncated = 0

    @classmethod
    def from_preset(cls, preset: str | Path, generation: GenerationSettings | None = None) -> Self:
        """Load a task that was trained.

        Raises:
            FileNotFoundError: if there is no such folder.
            ValueError: if it is no checkpoint, or was not trained for a task.
        """
        task_name = trained_task(preset)
        source = open_checkpoint(preset)
        task = task_class(task_name).from_preset(source, pad_to_multiple_of=padding_multiple())
        missing = () if task.load_report is None else task.load_report.missing
        # A pooler that the task does not read may be missing.
        backbone = {variable.path for variable in task.backbone.weights}
        if set(missing) - backbone:
            raise ValueError(
                f"{preset} has no trained head for this task. Train one: kerazoo finetune "
                f"{task_name} --preset …"
            )
        predictor = cls(task, generation)
        if source.format != KERAZOO:
            predictor.pairs = None
        if task.load_report is not None and not task.load_report.is_complete:
            predictor.load_note = str(task.load_report)
        return predictor

    def answer(self, columns: Mapping[str, Sequence[Any]], batch_size: int) -> list[Answer]:
        """Answer each row; see `Predictor`."""
        rows = {name: list(column) for name, column in columns.items()}
        if self.task_name == "causal-lm":
            return self._continued(rows["text"], batch_size)
        self.truncated += self.preprocessor.count_truncated(rows)
        with warnings.catch_warnings():
            # Counted here, to be said once for all rows.
            warnings.simplefilter("ignore", TruncationWarning)
            answers: list[Answer] = getattr(self.task, _METHODS[self.task_name])(
                rows, batch_size=batch_size
            )
            return answers

    def stream(self, prompt: str) -> Iterator[str]:
        """Yield a continuation piece by piece, as a language model chooses its tokens.

        Args:
            prompt: the text to continue.
        """
        self.task.compile(sampler=self.generation.sampler())
        return self.task.stream(prompt, max_new_tokens=self.generation.max_new_tokens)

    def _continued(self, prompts: list[str], batch_size: int) -> list[Answer]:
        self._check_prompts(prompts)
        self.task.compile(sampler=self.generation.sampler())
        texts = []
        for start in range(0, len(prompts), batch_size):
            texts += self.task.generate(
                prompts[start : start + batch_size],
                max_new_tokens=self.generation.max_new_tokens,
                strip_prompt=True,
                sliding_window=self.generation.sliding_window,
            )
        return [{"generated_text": text} for text in texts]

    def _check_prompts(self, prompts: list[str]) -> None:
        """Raise RowError for the first prompt that cannot be continued."""
        limit, new = self.task.backbone.config.max_sequence_length, self.generation.max_new_tokens
        for row, ids in enumerate(self.preprocessor.prompt_ids(prompts)):
            if not ids:
                raise RowError(
                    row,
                    "the prompt has no token, and there is nothing to continue. Received: "
                    f"text={prompts[row]!r}",
                )
            if len(ids) + new > limit and not self.generation.sliding_window:
                raise RowError(
                    row,
                    f"the model has {limit} positions, and prompt and continuation would "
                    "need more. Ask for fewer tokens (--max-new-tokens), or let the window slide "
                    f"(--sliding-window). Received: {len(ids)} + {new} tokens",
                )
