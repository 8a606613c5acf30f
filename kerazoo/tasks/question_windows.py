"""All windows of some questions in memory: what a model that answers questions learns from."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import ANSWER_START, QUESTION
from kerazoo.tasks.packed_windows import PackedWindows, packed_windows
from kerazoo.tasks.row_error import RowError

_SHOWN = 80
"""Characters of a question that a message shows."""


@dataclasses.dataclass(frozen=True)
class QuestionWindows(PackedWindows):
    """Packed windows; targets and weights are dicts of `start_logits` and `end_logits`.

    Args:
        features: as in `PackedWindows`.
        targets: as in `PackedWindows`, each (windows,).
        weights: as in `PackedWindows`, each (windows,).
        rows: as in `PackedWindows`.
        unanswered: int, how many of the questions have no answer.
    """

    unanswered: int = 0


def question_windows(
    preprocessor: Any,
    columns: dict[str, tf.Tensor],
    answers: dict[str, tf.Tensor] | None,
    sample_weight: Any = None,
) -> QuestionWindows:
    """Pack questions; see `packed_windows`.

    Args:
        preprocessor: an `ExtractiveQAPreprocessor`.
        columns: "question" and "context", each (rows,) string.
        answers: "answer", (rows,) string, and "answer_start", (rows,) int32; None for none.
        sample_weight: (rows,) float, the weight of each question in all of its windows; or None.

    Raises:
        ValueError: if a question leaves no room for its passage; the message names its row.
    """
    check_question_lengths(preprocessor, columns[QUESTION])
    packed = packed_windows(preprocessor, columns, answers, sample_weight)
    unanswered = 0 if answers is None else int(np.sum(answers[ANSWER_START].numpy() < 0))
    return QuestionWindows(**vars(packed), unanswered=unanswered)


def check_question_lengths(preprocessor: Any, questions: tf.Tensor) -> None:
    """Raise RowError if a question leaves no room for its passage."""
    lengths = preprocessor.question_lengths(questions).numpy()
    for row in np.flatnonzero(lengths > preprocessor.longest_question)[:1]:
        text = questions[int(row)].numpy().decode(errors="replace")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise RowError(
            int(row),
            f"the question has {lengths[row]} tokens, and of the "
            f"{preprocessor.sequence_length} positions of a row at most "
            f"{preprocessor.longest_question} are free for it; shorten it, or raise the "
            f"preprocessor's `sequence_length`. Received: {QUESTION}={shown!r}",
        )
