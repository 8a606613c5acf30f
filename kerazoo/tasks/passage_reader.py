"""Questions and passages through a task, batch by batch."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import CONTEXT, END_LOGITS, PADDING_MASK, QUESTION, START_LOGITS
from kerazoo.preprocessing.passage_windows import PassageWindows
from kerazoo.tasks.span_answers import span_answers
from kerazoo.tasks.span_decoder import SpanDecoder

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
        features = {key: passages.features[key].numpy() for key in self.task.input}
        lengths = passages.features[PADDING_MASK].numpy().sum(axis=1)
        shape = (2, *features[next(iter(features))].shape)
        logits = np.full(shape, _LOWEST_SCORE, "float32")
        batches = _batches_of_like_length(lengths, batch_size, self._multiple)
        with self.task.without_preprocessor():
            for rows, width in batches:
                batch = {key: values[rows, :width] for key, values in features.items()}
                outputs = self.task.predict_on_batch(_filled_up(batch, batch_size))
                for number, key in enumerate((START_LOGITS, END_LOGITS)):
                    part = keras.ops.convert_to_numpy(outputs[key])[: len(rows)]
                    logits[number, rows, : part.shape[1]] = part
        return tf.constant(logits[0]), tf.constant(logits[1])

    @property
    def _multiple(self) -> int | None:
        multiple: int | None = self.task.preprocessor.pad_to_multiple_of
        return None if keras.config.backend() == "jax" else multiple or 8


def _batches_of_like_length(
    lengths: np.ndarray, batch_size: int, multiple: int | None
) -> list[tuple[np.ndarray, int | None]]:
    """Return the rows of each batch and the width that they need, None for all of it."""
    order = np.argsort(lengths, kind="stable")
    batches = []
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        longest = int(lengths[rows].max())
        batches.append((rows, None if multiple is None else -(-longest // multiple) * multiple))
    return batches


def _filled_up(batch: dict[str, np.ndarray], batch_size: int) -> dict[str, np.ndarray]:
    """Repeat the last row up to whole batches where every number of rows is compiled anew."""
    if keras.config.backend() != "jax":
        return batch
    return {
        key: np.pad(values, [(0, batch_size - len(values)), (0, 0)], mode="edge")
        for key, values in batch.items()
    }
