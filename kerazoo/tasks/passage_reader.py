"""Questions and passages through a task, batch by batch."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import CONTEXT, END_LOGITS, PADDING_MASK, QUESTION, START_LOGITS
from kerazoo.preprocessing.passage_windows import PassageWindows
from kerazoo.tasks.span_answers import span_answers
from kerazoo.tasks.span_decoder import SpanDecoder
from kerazoo.tasks.window_outputs import window_outputs

_BATCHES_OF_A_CHUNK = 8
"""So many are read at once and computed in the order of their lengths."""

_LOWEST_SCORE = np.finfo("float32").min


class PassageReader:
    """Packs questions with the windows of their passages, asks a task, and finds the best spans.

    Args:
        task: an `ExtractiveQA`.

    Raises:
        ValueError: if it has no preprocessor.
    """

    def __init__(self, task: Any) -> None:
        """Keep the task."""
        if task.preprocessor is None:
            raise ValueError(
                "Passages are read with a tokenizer; give the task a preprocessor. "
                "Received: preprocessor=None"
            )
        self.task = task

    def answers(
        self, columns: dict[str, tf.Tensor], decoder: SpanDecoder, top_k: int, batch_size: int
    ) -> list[dict[str, Any]]:
        """Return the answer to each question; see `kerazoo.tasks.span_answers`.

        Args:
            columns: "question" and "context", each (rows,) string.
            decoder: what ranks the spans.
            top_k: int, entries of the list of best answers.
            batch_size: int, windows computed together.
        """
        found: list[dict[str, Any]] = []
        rows = int(columns[QUESTION].shape[0])
        for start in range(0, rows, batch_size * _BATCHES_OF_A_CHUNK):
            chunk = slice(start, start + batch_size * _BATCHES_OF_A_CHUNK)
            with tf.device("CPU:0"):
                texts = (columns[key][chunk] for key in (QUESTION, CONTEXT))
                passages = self.task.preprocessor.read(*texts, None)
                logits = self._logits(passages, batch_size)
                outputs = decoder.decode(*logits, passages, top_k)
            found += span_answers({name: value.numpy() for name, value in outputs.items()})
        return found

    def _logits(self, passages: PassageWindows, batch_size: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Return start and end logits of all windows, (windows, seq) float32."""
        shape = (2, *passages.features[PADDING_MASK].shape)
        logits = np.full(shape, _LOWEST_SCORE, "float32")
        for rows, outputs in window_outputs(self.task, passages.features, batch_size):
            for number, key in enumerate((START_LOGITS, END_LOGITS)):
                logits[number, rows, : outputs[key].shape[1]] = outputs[key]
        return tf.constant(logits[0]), tf.constant(logits[1])
