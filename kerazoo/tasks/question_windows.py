"""All windows of some questions in memory: what a model that answers questions learns from."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import ANSWER_START, PADDING_MASK, QUESTION

_QUESTIONS_AT_ONCE = 256


@dataclasses.dataclass(frozen=True)
class QuestionWindows:
    """Packed windows.

    Args:
        features: the model's inputs, each (windows, seq) int32.
        targets: `start_logits` and `end_logits`, each (windows,) int32; None without answers.
        weights: the same keys, each (windows,) float32; None without weights.
        unanswered: int, how many of the questions have no answer.
    """

    features: dict[str, np.ndarray]
    targets: dict[str, np.ndarray] | None
    weights: dict[str, np.ndarray] | None
    unanswered: int = 0

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.features[PADDING_MASK])


def question_windows(
    preprocessor: Any,
    columns: dict[str, tf.Tensor],
    answers: dict[str, tf.Tensor] | None,
    sample_weight: Any = None,
) -> QuestionWindows:
    """Pack questions; the rows are as wide as the longest of them needs.

    Args:
        preprocessor: an `ExtractiveQAPreprocessor`.
        columns: "question" and "context", each (rows,) string.
        answers: "answer", (rows,) string, and "answer_start", (rows,) int32; None for none.
        sample_weight: (rows,) float, the weight of each question in all of its windows; or None.

    Raises:
        ValueError: if a question leaves no room for its passage; the message names its row.
    """
    check_question_lengths(preprocessor, columns[QUESTION])
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, "float32")
    rows = int(columns[QUESTION].shape[0])
    portions = []
    with tf.device("CPU:0"):
        for start in range(0, max(rows, 1), _QUESTIONS_AT_ONCE):
            part = slice(start, start + _QUESTIONS_AT_ONCE)
            portion = preprocessor.windows(
                {key: value[part] for key, value in columns.items()},
                None if answers is None else {key: v[part] for key, v in answers.items()},
                None if sample_weight is None else sample_weight[part],
            )
            portions.append([_as_arrays(tensors) for tensors in portion])
    features, targets, weights = (_joined(parts) for parts in zip(*portions, strict=True))
    longest = int(features[PADDING_MASK].sum(axis=1).max(initial=1))
    width = longest if preprocessor.pad_to_multiple_of else preprocessor.sequence_length
    return QuestionWindows(
        features={key: value[:, :width] for key, value in features.items()},
        targets=targets,
        weights=weights,
        unanswered=0 if answers is None else int(np.sum(answers[ANSWER_START].numpy() < 0)),
    )


def check_question_lengths(preprocessor: Any, questions: tf.Tensor) -> None:
    """Raise ValueError if a question leaves no room for its passage; the message names its row."""
    lengths = preprocessor.question_lengths(questions).numpy()
    for row in np.flatnonzero(lengths > preprocessor.longest_question)[:1]:
        text = questions[int(row)].numpy().decode(errors="replace")
        raise ValueError(
            f"Row {row}: the question has {lengths[row]} tokens, and of the "
            f"{preprocessor.sequence_length} positions of a row at most "
            f"{preprocessor.longest_question} are free for it; shorten it, or raise the "
            f"preprocessor's `sequence_length`. Received: {QUESTION}={text!r}"
        )


def _as_arrays(tensors: dict[str, tf.Tensor] | None) -> dict[str, np.ndarray] | None:
    return None if tensors is None else {key: value.numpy() for key, value in tensors.items()}


def _joined(parts: tuple[Any, ...]) -> Any:
    """Join dicts of arrays row by row; None stays None."""
    if parts[0] is None:
        return None
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
