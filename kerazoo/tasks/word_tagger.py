"""Texts through a token classifier, batch by batch."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, WORDS
from kerazoo.metrics.entity_spans import OUTSIDE, illegal_moves, split_tag
from kerazoo.preprocessing.tagged_windows import TaggedWindows
from kerazoo.tasks.entity_answers import entity_answer
from kerazoo.tasks.tag_decoder import DecodedTags, TagDecoder
from kerazoo.tasks.window_outputs import window_outputs

_BATCHES_OF_A_CHUNK = 8
"""So many are read at once and computed in the order of their lengths."""


class WordTagger:
    """Packs texts in windows, asks a task, and finds tags and entities.

    Args:
        task: a `TokenClassifier`.

    Raises:
        ValueError: if it has no preprocessor.
    """

    def __init__(self, task: Any) -> None:
        """Keep the task."""
        if task.preprocessor is None:
            raise ValueError(
                "Texts are read with a tokenizer; give the task a preprocessor. "
                "Received: preprocessor=None"
            )
        self.task = task

    def answers(
        self, columns: dict[str, Any], decoder: TagDecoder, batch_size: int
    ) -> list[dict[str, Any]]:
        """Return the answer to each text; see `TokenClassifier.tag`.

        Args:
            columns: "text", (rows,) string, or "words", (rows, words) string, ragged.
            decoder: what finds tags and entities.
            batch_size: int, windows computed together.
        """
        found: list[dict[str, Any]] = []
        (values,) = columns.values()
        for start in range(0, int(values.shape[0]), batch_size * _BATCHES_OF_A_CHUNK):
            chunk = slice(start, start + batch_size * _BATCHES_OF_A_CHUNK)
            with tf.device("CPU:0"):
                part = {key: column[chunk] for key, column in columns.items()}
                windows = self.task.preprocessor.read(part, None)
                decoded = decoder.decode(self._logits(windows, batch_size), windows)
            found += self._as_dicts(part.get(WORDS), windows, decoded)
        return found

    def _logits(self, windows: TaggedWindows, batch_size: int) -> tf.Tensor:
        """Return the logits of all windows, (windows, seq, tags) float32."""
        shape = (*windows.features[PADDING_MASK].shape, len(self.task.labels))
        logits = np.zeros(shape, "float32")
        for rows, outputs in window_outputs(self.task, windows.features, batch_size):
            logits[rows, : outputs.shape[1]] = outputs
        return tf.constant(logits)

    def _as_dicts(
        self, words: Any, windows: TaggedWindows, decoded: DecodedTags
    ) -> list[dict[str, Any]]:
        labels, types = self.task.labels, self.task.tag_table.types
        given = None if words is None else words.to_list()
        texts = windows.texts.numpy()
        columns = [
            values.to_list()
            for values in (windows.words.starts, windows.words.ends, decoded.tags, decoded.begins)
        ]
        entities = [
            values.to_list()
            for values in (
                decoded.entity_texts,
                decoded.entity_types,
                decoded.entity_starts,
                decoded.entity_ends,
                decoded.entity_scores,
            )
        ]
        found = []
        for row, text in enumerate(texts):
            starts, ends, tags, begins = (column[row] for column in columns)
            if given is None:
                characters = text.decode()
                slices = [characters[a:b] for a, b in zip(starts, ends, strict=True)]
            else:
                slices = [word.decode(errors="replace") for word in given[row]]
            names = [labels[tag] for tag in tags if tag >= 0]
            found.append(
                {
                    "entities": [
                        entity_answer(part, types[kind].encode(), *rest)
                        for part, kind, *rest in zip(*(e[row] for e in entities), strict=True)
                    ],
                    "words": slices,
                    "tags": repaired_tags(tags, begins, labels),
                    "illegal_moves": illegal_moves(names),
                }
            )
        return found


def repaired_tags(tags: list[int], begins: list[bool], labels: list[str]) -> list[str]:
    """Return the names of tags, B- wherever an entity begins.

    Args:
        tags: the numbers of a text's tags, -1 for a word without a token.
        begins: whether an entity begins with the word.
        labels: the names of the tags.

    Returns:
        Names; a word without a token has I- within an entity, else O.
    """
    names = []
    for tag, is_first in zip(tags, begins, strict=True):
        name = labels[tag] if tag >= 0 else OUTSIDE
        begin = f"B-{name[2:]}"
        names.append(begin if is_first and name[:2] == "I-" and begin in labels else name)
    for place, tag in enumerate(tags):
        if tag >= 0:
            continue
        later = next((p for p in range(place + 1, len(tags)) if tags[p] >= 0), None)
        if later is not None and not begins[later]:
            prefix, kind = split_tag(names[later])
            names[place] = f"I-{kind}" if prefix == "E" else names[later]
    return names
