"""Raw questions with choices to the inputs of a `MultipleChoice`."""

import dataclasses
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.checks import check_positive
from kerazoo.preprocessing.base import Preprocessor
from kerazoo.preprocessing.choice_texts import choice_texts, real_choices
from kerazoo.preprocessing.packing import Part, check_room, pack_parts, truncate_first
from kerazoo.tokenizers.base import Tokenizer


@keras.saving.register_keras_serializable(package="kerazoo")
class MultipleChoicePreprocessor(Preprocessor):
    """Tokenise, pack and pad each choice behind its context and question.

    GPT reads `<s> context $ question $ choice <e>` (Radford et al. 2018, figure 1), BERT
    `[CLS] context question [SEP] choice [SEP]` with segment 1 on the choice. An empty context or
    question takes no place, its special token neither. An empty choice is no choice: it stands for
    padding, in a row that has fewer choices than others, and is packed as padding alone.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row; of longer ones the context is cut at its
            end, and only where nothing is left of it the longer one of question and choice.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: dict of "choices", (batch, choices) string, dense or ragged, and perhaps "context" and
            "question", each (batch,) string.
        y: (batch,) int, the index of the right choice, optional.
        sample_weight: (batch,) float, optional.

    Returns:
        A dict of `token_ids`, `segment_ids`, `padding_mask`, each (batch, choices, seq) int32; with
        `y` a tuple of it and (batch,) int32, with `sample_weight` that too.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 512,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        check_positive("sequence_length", sequence_length)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.pad_to_multiple_of = pad_to_multiple_of

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        context, question, choices = choice_texts(x)
        features = self.pack_choices(context, question, choices, self.pad_to_multiple_of)
        if y is not None:
            y = _checked_labels(y, choices)
        if sample_weight is not None:
            sample_weight = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
        return keras.utils.pack_x_y_sample_weight(features, y, sample_weight)

    def pack_choices(
        self,
        context: tf.Tensor,
        question: tf.Tensor,
        choices: tf.Tensor,
        pad_to_multiple_of: int | None,
    ) -> dict[str, tf.Tensor]:
        """Return the model's inputs.

        Args:
            context: (batch,) string.
            question: (batch,) string.
            choices: (batch, choices) string.
            pad_to_multiple_of: as for the class.

        Returns:
            dict of `token_ids`, `segment_ids`, `padding_mask`, each (batch, choices, seq) int32.
        """
        check_room(self.sequence_length, specials=4)
        parts = self._parts(context, question, choices)
        kept = truncate_first([part.lengths for part in parts], self._budget(parts))
        features = pack_parts(parts, kept, self.template, self.sequence_length, pad_to_multiple_of)
        is_real = tf.reshape(real_choices(choices), (-1, 1))
        padding = {key: tf.zeros_like(value) for key, value in features.items()}
        padding[TOKEN_IDS] += self.template.pad_id
        shape = [_size(choices, 0), _size(choices, 1), _size(features[PADDING_MASK], 1)]
        return {
            key: tf.reshape(tf.where(is_real, value, padding[key]), shape)
            for key, value in features.items()
        }

    def text_lengths(self, x: Any, batch_size: int = 1024) -> np.ndarray:
        """Return the tokens of each row's longest choice with all that goes before it.

        Args:
            x: texts, as for the call; all of them at once.
            batch_size: int, rows that are tokenised together.

        Returns:
            (rows,) int64, special tokens included, if nothing is cut.
        """
        columns = choice_texts(x)
        portions = [np.zeros(0, np.int64)]
        for start in range(0, int(columns[0].shape[0]), batch_size):
            context, question, choices = (c[start : start + batch_size] for c in columns)
            parts = self._parts(context, question, choices)
            room = self._budget(parts) - tf.add_n([part.lengths for part in parts])
            rows = tf.reshape(self.sequence_length - room, tf.shape(choices))
            rows = tf.where(real_choices(choices), rows, 0)
            portions.append(tf.reduce_max(rows, axis=1).numpy().astype(np.int64))
        return np.concatenate(portions)

    def _parts(self, context: tf.Tensor, question: tf.Tensor, choices: tf.Tensor) -> list[Part]:
        """Return the three texts of each row, context and question once for each choice."""
        # All together, as each use of the tokenizer is a large graph.
        texts = tf.concat([context, question, tf.reshape(choices, [-1])], axis=0)
        every = Part.from_ragged(self.tokenizer.tokenize(texts))
        batch = tf.shape(context)[0]
        first = every.rows(slice(batch))
        second = every.rows(slice(batch, 2 * batch))
        choice = every.rows(slice(2 * batch, None), segment=1)
        has_first, has_second = first.lengths > 0, second.lengths > 0
        if self.template.separator_id == self.template.end_id:
            # Segment ids tell the texts of BERT apart, so context and question are one text.
            has_first, has_second = tf.zeros_like(has_first), has_first | has_second
        count = tf.shape(choices)[1]
        return [
            dataclasses.replace(first, closed=has_first).repeated(count),
            dataclasses.replace(second, closed=has_second).repeated(count),
            choice,
        ]

    def _budget(self, parts: list[Part]) -> tf.Tensor:
        """Return the tokens that each row has beside the special ones, (rows,) int32."""
        closings = tf.add_n([tf.cast(part.closed, tf.int32) for part in parts])
        return self.sequence_length - 1 - closings

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "pad_to_multiple_of": self.pad_to_multiple_of,
        }


def _checked_labels(y: Any, choices: tf.Tensor) -> tf.Tensor:
    """Return (batch,) int32 labels, each of which is a choice of its row."""
    y = tf.cast(tf.convert_to_tensor(y), tf.int32)
    positions = tf.range(tf.shape(choices)[1])[tf.newaxis, :]
    known = tf.reduce_any((positions == y[:, tf.newaxis]) & real_choices(choices), axis=1)
    message = "A label is no choice of its row; labels count the choices from 0. Received: label="
    check = tf.debugging.Assert(tf.reduce_all(known), [message, tf.boolean_mask(y, ~known)])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(y)


def _size(tensor: tf.Tensor, axis: int) -> int | tf.Tensor:
    """Return a size as a number where it is known when a graph is traced."""
    static = tensor.shape[axis]
    return tf.shape(tensor)[axis] if static is None else static
