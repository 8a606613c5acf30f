"""Texts with masks through a task, batch by batch."""

from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.mask_reader import MaskedTexts, MaskReader
from kerazoo.tasks.mask_answers import mask_answers
from kerazoo.tasks.mask_filler import MaskFiller
from kerazoo.tasks.row_error import RowError


class FillMask:
    """Reads texts with [MASK], asks a task, and says which tokens stand there.

    Args:
        task: a task with `preprocessor`, `masked_lm_logits` and `vocabulary_size`.

    Raises:
        ValueError: if it has no preprocessor, or its tokenizer no mask token.
    """

    def __init__(self, task: Any) -> None:
        """Make what reads texts and what answers."""
        if task.preprocessor is None:
            raise ValueError(
                "Masks are read with a tokenizer; give the task a preprocessor. "
                "Received: preprocessor=None"
            )
        self.task = task
        self._made_for = _traits(task.preprocessor)
        tokenizer = task.preprocessor.tokenizer
        self.reader = MaskReader(tokenizer, task.preprocessor.sequence_length)
        self.filler = MaskFiller(tokenizer, task.vocabulary_size)

    def suits(self, preprocessor: Any) -> bool:
        """Return whether a preprocessor is as the task's was when this was made."""
        return preprocessor is not None and self._made_for == _traits(preprocessor)

    def candidates(
        self, texts: Sequence[str], top_k: int, batch_size: int
    ) -> list[list[list[dict[str, Any]]]]:
        """Return for each text, for each of its masks, the likeliest tokens; see `fill_mask`."""
        found: list[list[list[dict[str, Any]]]] = []
        for read, answers in self._batches(texts, top_k, batch_size):
            filled = self.filler.candidate_texts(read, answers["tokens"]).numpy()
            columns = {name: answers[name].numpy() for name in ("tokens", "scores", "positions")}
            for row, count in enumerate(read.counts.numpy()):
                found.append(
                    [
                        [
                            {
                                "token": columns["tokens"][row, mask, rank].decode(),
                                "score": float(columns["scores"][row, mask, rank]),
                                "position": int(columns["positions"][row, mask]),
                                "text": filled[row, mask, rank].decode(),
                            }
                            for rank in range(top_k)
                        ]
                        for mask in range(count)
                    ]
                )
        return found

    def answers(self, texts: Sequence[str], top_k: int, batch_size: int) -> list[dict[str, Any]]:
        """Return for each text its filled text and its masks, in the form of a served answer."""
        found = []
        for _, answers in self._batches(texts, top_k, batch_size):
            found += mask_answers({name: value.numpy() for name, value in answers.items()})
        return found

    def _batches(
        self, texts: Sequence[str], top_k: int, batch_size: int
    ) -> Iterator[tuple[MaskedTexts, dict[str, tf.Tensor]]]:
        self.filler.check_top_k(top_k)
        for start in range(0, len(texts), batch_size):
            batch = list(texts[start : start + batch_size])
            with tf.device("CPU:0"):
                read = self.reader.read(batch, pad_to_multiple_of=self._multiple)
                self._check(read, batch, start)
                logits = tf.constant(self._logits(read))
                yield read, self.filler.answers(logits, read, top_k)

    @property
    def _multiple(self) -> int | None:
        multiple: int | None = self.task.preprocessor.pad_to_multiple_of
        return multiple

    def _logits(self, read: MaskedTexts) -> np.ndarray:
        features = {key: read.features[key].numpy() for key in self.task.input}
        with self.task.without_preprocessor():
            outputs = self.task.predict_on_batch(features)
        logits: np.ndarray = keras.ops.convert_to_numpy(self.task.masked_lm_logits(outputs))
        return logits

    def _check(self, read: MaskedTexts, batch: list[str], start: int) -> None:
        """Raise RowError for a text without a mask, or with one that the model does not read."""
        seen = tf.reduce_sum(tf.cast(read.is_used, tf.int32), axis=1).numpy()
        for row, (count, used) in enumerate(zip(read.counts.numpy(), seen, strict=True)):
            if count == 0:
                raise RowError(
                    start + row,
                    f"the text has no {self.reader.mask_token}, so there is nothing to fill in. "
                    f"Received: text={batch[row]!r}",
                )
            if used < count:
                raise RowError(
                    start + row,
                    f"the text has a {self.reader.mask_token} behind the "
                    f"{self.task.preprocessor.sequence_length} tokens that are read; shorten it, "
                    "or raise the preprocessor's `sequence_length`. "
                    f"Received: a text of {len(batch[row])} characters",
                )


def _traits(preprocessor: Any) -> tuple[Any, int]:
    return preprocessor.tokenizer, preprocessor.sequence_length
