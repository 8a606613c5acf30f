"""From logits of windows to tags of words and entities in texts: one graph, eagerly and served."""

import dataclasses
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.tag_targets import TagTable
from kerazoo.preprocessing.tagged_windows import TaggedWindows
from kerazoo.tokenizers.token_rows import row_of_each_token


@dataclasses.dataclass(frozen=True)
class DecodedTags:
    """Words of texts with their tags, and the entities that they make.

    Args:
        tags: (texts, words) int32, as decoded; -1 for a word without a token.
        begins: (texts, words) bool, whether an entity begins with the word.
        entity_types: (texts, entities) int32, in the order of `TagTable.types`.
        entity_starts: (texts, entities) int32, first characters.
        entity_ends: (texts, entities) int32, the characters behind the last ones.
        entity_scores: (texts, entities) float32, the mean over the words of the probabilities of
            their tags.
        entity_texts: (texts, entities) string, the slices of the texts.
    """

    tags: tf.RaggedTensor
    begins: tf.RaggedTensor
    entity_types: tf.RaggedTensor
    entity_starts: tf.RaggedTensor
    entity_ends: tf.RaggedTensor
    entity_scores: tf.RaggedTensor
    entity_texts: tf.RaggedTensor


class TagDecoder:
    """Decodes tags over whole texts, whatever their windows.

    The scores of a word are those of its first token, in the window where that is most central.
    Without a CRF each word takes its likeliest tag; with one the text takes its best sequence of
    tags, and the probabilities are marginals. An I- that goes on with no entity of its type begins
    one, as in `seqeval`'s default mode.

    Args:
        table: of the task's tags.
        crf: a `kerazoo.layers.crf.CRF`, or None.
    """

    def __init__(self, table: TagTable, crf: Any = None) -> None:
        """Keep the arguments."""
        self.table = table
        self._crf = crf
        self._graph: Any = None

    def decode(self, logits: tf.Tensor, windows: TaggedWindows) -> DecodedTags:
        """Return tags and entities.

        Args:
            logits: (windows, seq, tags) float32.
            windows: the packed texts.
        """
        words = windows.visible_words()
        places = windows.places(windows.first_tokens(words))
        scores = tf.gather_nd(logits, places)
        row = tf.gather(row_of_each_token(windows.words.starts), words)
        rows = windows.words.starts.nrows()
        by_text = tf.RaggedTensor.from_value_rowids(scores, row, rows, validate=False)
        tag, probability = self._tags(by_text)
        begins = self.table.begins_entity(tag, row)
        all_tags = tf.fill(tf.shape(windows.words.starts.flat_values), -1)
        return DecodedTags(
            tags=windows.words.starts.with_flat_values(
                tf.tensor_scatter_nd_update(all_tags, words[:, tf.newaxis], tag)
            ),
            begins=windows.words.starts.with_flat_values(
                tf.tensor_scatter_nd_update(all_tags >= 0, words[:, tf.newaxis], begins)
            ),
            **self._entities(windows, words, row, tag, probability, begins),
        )

    def _tags(self, scores: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return tag and probability of each word of all texts, (words,) int32 and float32."""
        if self._crf is None:
            flat = scores.flat_values
            tag = tf.argmax(flat, axis=1, output_type=tf.int32)
            return tag, tf.reduce_max(tf.nn.softmax(flat), axis=1)
        lengths = scores.row_lengths()
        # One word more, so that no text is empty.
        shape = [None, None, len(self.table.type_of)]
        dense = tf.pad(scores.to_tensor(shape=shape), [[0, 0], [0, 1], [0, 0]])
        mask = tf.sequence_mask(lengths, tf.shape(dense)[1])
        tags, marginals = self._crf_outputs(dense, mask)
        tag = tf.boolean_mask(tags, mask)
        return tag, tf.gather(tf.boolean_mask(marginals, mask), tag, batch_dims=1)

    def _crf_outputs(self, scores: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Return best tags, (texts, words) int32, and marginals, (texts, words, tags) float32."""
        if keras.config.backend() != "tensorflow":
            return self._crf_outputs_elsewhere(scores.numpy(), mask.numpy())

        def outputs(scores: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return self._crf.decode(scores, mask)[0], self._crf.marginals(scores, mask)

        if not tf.executing_eagerly():
            return outputs(scores, mask)
        if self._graph is None:
            shapes = tf.TensorSpec(scores.shape[:0] + [None, None, scores.shape[2]], tf.float32)
            signature = (shapes, tf.TensorSpec((None, None), tf.bool))
            # A scan without a graph takes many times as long.
            self._graph = tf.function(outputs, input_signature=signature, autograph=False)
        return self._graph(scores, mask)

    def _crf_outputs_elsewhere(
        self, scores: np.ndarray, mask: np.ndarray
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Compute on another backend, which may compile every shape: so there are few of them."""
        rows, width = mask.shape
        more = [(0, _power_of_two(rows) - rows), (0, _power_of_two(width) - width)]
        scores, mask = np.pad(scores, [*more, (0, 0)]), np.pad(mask, more)
        outputs = (self._crf.decode(scores, mask)[0], self._crf.marginals(scores, mask))
        return tuple(
            tf.constant(keras.ops.convert_to_numpy(value)[:rows, :width]) for value in outputs
        )

    def _entities(
        self,
        windows: TaggedWindows,
        words: tf.Tensor,
        row: tf.Tensor,
        tag: tf.Tensor,
        probability: tf.Tensor,
        begins: tf.Tensor,
    ) -> dict[str, tf.RaggedTensor]:
        starts, ends = (
            tf.gather(values.flat_values, words)
            for values in (windows.words.starts, windows.words.ends)
        )
        type_of = tf.gather(tf.constant(self.table.type_of), tag)
        head = tf.where(begins)[:, 0]
        is_inside = type_of >= 0
        entity = tf.boolean_mask(tf.cumsum(tf.cast(begins, tf.int32)) - 1, is_inside)
        start = tf.gather(starts, head)
        end = tf.math.segment_max(tf.boolean_mask(ends, is_inside), entity)
        head_row = tf.gather(row, head)
        values = {
            "entity_types": tf.gather(type_of, head),
            "entity_starts": start,
            "entity_ends": end,
            "entity_scores": tf.math.segment_mean(tf.boolean_mask(probability, is_inside), entity),
            "entity_texts": tf.strings.substr(
                tf.gather(windows.texts, head_row), start, end - start, unit="UTF8_CHAR"
            ),
        }
        rows = windows.words.starts.nrows()
        return {
            name: tf.RaggedTensor.from_value_rowids(value, head_row, rows, validate=False)
            for name, value in values.items()
        }


def _power_of_two(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()
