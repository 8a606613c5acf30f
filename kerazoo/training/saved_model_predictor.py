"""Answers from an exported SavedModel, computed by TensorFlow and TensorFlow Text alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the operations of the tokenizer)

from kerazoo.axes import CHOICES, CONTEXT, LABEL, QUESTION, QUESTION_ID, TEXT, TEXT_PAIR, WORDS
from kerazoo.export.description import read_description
from kerazoo.export.version_folder import find_version_folder
from kerazoo.tasks.entity_answers import entity_answers, tags_of_words
from kerazoo.tasks.mask_answers import mask_answers
from kerazoo.tasks.row_error import RowError
from kerazoo.tasks.span_answers import span_answers
from kerazoo.training.generation_settings import GenerationSettings
from kerazoo.training.predictor import Answer

Columns = Mapping[str, Sequence[Any]]
_CAUSAL_LM, _MULTIPLE_CHOICE, _EXTRACTIVE_QA = "causal-lm", "multiple-choice", "extractive-qa"
_TOKEN_CLASSIFICATION = "token-classification"
_MASKED_WORDS = ("masked-lm", "bert-pretraining")


class SavedModelPredictor:
    """An exported task as a `kerazoo.training.predictor.Predictor`.

    Args:
        path: a version folder, or a base folder of versions, of which the highest is taken.
        generation: how a language model continues texts; None is the defaults.

    Raises:
        FileNotFoundError: if there is no SavedModel.
        ValueError: if it is not one that kerazoo exported, or is damaged.
    """

    def __init__(self, path: str | Path, generation: GenerationSettings | None = None) -> None:
        """Load the SavedModel and look at its signatures."""
        self.folder = find_version_folder(path)
        description = read_description(self.folder)
        self.task_name: str = description["task"]
        self.labels: list[str] = [str(label) for label in description.get("labels") or []]
        self._separator: str = description.get("word_separator") or ""
        # The loaded object owns the variables; the function alone would not keep them alive.
        self._loaded = _load(self.folder)
        signature = "generate" if self.task_name == _CAUSAL_LM else "serving_default"
        self._function = self._loaded.signatures.get(signature)
        if self._function is None:
            raise ValueError(
                f"{self.folder} does not answer texts: it has no signature {signature}. "
                f"Received: signatures={sorted(self._loaded.signatures)}"
            )
        self._inputs = set(self._function.structured_input_signature[1])
        self.generation = generation or GenerationSettings()
        self.pairs: bool | None = TEXT_PAIR in self._inputs
        # The graph truncates by itself and does not tell.
        self.load_note: str | None = None
        self.sequence_length: int | None = None
        self.truncated = 0

    def answer(self, columns: Columns, batch_size: int) -> list[Answer]:
        """Answer each row; see `Predictor`."""
        tensors, read = {
            _CAUSAL_LM: (self._prompts, self._continuations),
            _MULTIPLE_CHOICE: (self._questions, self._choices),
            _EXTRACTIVE_QA: (self._texts, self._spans),
            _TOKEN_CLASSIFICATION: (self._joined, self._entities),
            **dict.fromkeys(_MASKED_WORDS, (self._texts, self._filled)),
        }.get(self.task_name, (self._texts, self._labelled))
        return self._batched(columns, batch_size, tensors, read)

    def _batched(
        self,
        columns: Columns,
        batch_size: int,
        tensors: Callable[[Columns], dict[str, tf.Tensor]],
        read: Callable[[dict[str, Any], Columns], list[Answer]],
    ) -> list[Answer]:
        answers: list[Answer] = []
        for start in range(0, len(next(iter(columns.values()))), batch_size):
            batch = {name: values[start : start + batch_size] for name, values in columns.items()}
            outputs = self._function(**tensors(batch))
            try:
                answers += read({name: value.numpy() for name, value in outputs.items()}, batch)
            except RowError as error:
                raise RowError(start + error.row, error.fault) from None
        return answers

    def _texts(self, batch: Columns) -> dict[str, tf.Tensor]:
        return {name: _strings(values) for name, values in batch.items() if name != QUESTION_ID}

    def _spans(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        return span_answers(outputs)

    def _joined(self, batch: Columns) -> dict[str, tf.Tensor]:
        if WORDS not in batch:
            return self._texts(batch)
        return {TEXT: _strings([self._separator.join(words) for words in batch[WORDS]])}

    def _entities(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        answers = entity_answers(outputs)
        for answer, words in zip(answers, batch.get(WORDS, ()), strict=False):
            answer |= tags_of_words(words, self._separator, answer["entities"])
        return answers

    def _labelled(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        if LABEL not in outputs:
            return [{"score": float(score)} for score in outputs["score"]]
        rows = zip(outputs[LABEL], outputs["score"], outputs["probabilities"], strict=True)
        return [
            {
                "label": label.decode(),
                "score": float(score),
                "probabilities": dict(zip(self.labels, map(float, row), strict=True)),
            }
            for label, score, row in rows
        ]

    def _filled(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        for row, count in enumerate(outputs["mask_count"]):
            if count == 0:
                raise RowError(
                    row,
                    "the model fills in masks, and the text has none. "
                    f"Received: text={batch[TEXT][row]!r}",
                )
        return mask_answers(outputs)

    def _questions(self, batch: Columns) -> dict[str, tf.Tensor]:
        rows = batch[CHOICES]
        empty = [""] * len(rows)
        widest = max(len(row) for row in rows)
        padded = [[*row, *[""] * (widest - len(row))] for row in rows]
        return {
            CONTEXT: _strings(batch.get(CONTEXT, empty)),
            QUESTION: _strings(batch.get(QUESTION, empty)),
            CHOICES: tf.constant(padded, dtype=tf.string),
        }

    def _choices(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        answers = []
        for choice, row, choices in zip(
            outputs["choice"], outputs["probabilities"], batch[CHOICES], strict=True
        ):
            scores = [float(score) for score in row[: len(choices)]]
            best = int(choice)
            answers.append(
                {"choice": best, "text": choices[best], "score": scores[best], "scores": scores}
            )
        return answers

    def _prompts(self, batch: Columns) -> dict[str, tf.Tensor]:
        settings, rows = self.generation, len(batch[TEXT])
        if settings.num_beams or settings.sliding_window:
            raise ValueError(
                "An exported language model has neither beam search nor sliding window; ask the "
                f"preset that it was exported from. Received: num_beams={settings.num_beams}, "
                f"sliding_window={settings.sliding_window}"
            )
        each = {
            "max_new_tokens": np.int32(settings.max_new_tokens),
            "temperature": np.float32(settings.effective_temperature),
            "top_k": np.int32(settings.top_k),
            "top_p": np.float32(settings.top_p),
            "seed": np.int32(settings.seed),
        }
        filled = {name: tf.fill([rows], value) for name, value in each.items()}
        return {TEXT: _strings(batch[TEXT]), **filled}

    def _continuations(self, outputs: dict[str, Any], batch: Columns) -> list[Answer]:
        return [{"generated_text": text.decode()} for text in outputs["generated_text"]]


def _strings(values: Sequence[str]) -> tf.Tensor:
    return tf.constant(list(values), dtype=tf.string, shape=(len(values),))


def _load(folder: Path) -> Any:
    """Load a SavedModel, or say which folder is damaged; `kerazoo verify` says what is."""
    try:
        return tf.saved_model.load(str(folder))
    except (OSError, RuntimeError, ValueError, tf.errors.OpError) as error:
        raise ValueError(
            f"{folder} cannot be loaded; it is damaged or incomplete. See what is wrong with "
            f"kerazoo verify, or export the model again. Received: {str(error).splitlines()[0]}"
        ) from error
