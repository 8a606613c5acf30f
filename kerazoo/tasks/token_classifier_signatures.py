"""The signatures of an exported `TokenClassifier`: text in, entities out."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TEXT, TOKEN_IDS
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE
from kerazoo.tasks.serving_signature import ServingSignature

SERVED_ENTITIES = 64
"""Entities of a text that are listed: the width is fixed, whatever else is in the batch."""

_WIDTH = 8


def token_classifier_signatures(task: Any) -> dict[str, ServingSignature]:
    """Return the signatures of a task that tags words.

    `serving_default` takes `text`, (batch,) string, reads long texts in windows, and answers the
    first 64 entities of each, in order: `entities`, `types`, (batch, 64) string, `starts`, `ends`,
    (batch, 64) int32, characters, and `scores`, (batch, 64) float32, "" and 0 where there are
    fewer; and `count`, (batch,) int32, all entities of the text. `features` takes ready ids and
    gives `logits`, (batch, seq, tags) float32.

    Args:
        task: a `TokenClassifier` with a preprocessor.
    """
    decoder = task.decoder()
    types = tf.constant([*task.tag_table.types, ""])

    def entities(text: tf.Tensor) -> dict[str, tf.Tensor]:
        windows = task.preprocessor.read(text, SERVED_MULTIPLE)
        decoded = decoder.decode(logits_of(**windows.features)["logits"], windows)
        named = decoded.entity_types.with_flat_values(
            tf.gather(types, decoded.entity_types.flat_values)
        )
        columns = {
            "entities": decoded.entity_texts,
            "types": named,
            "starts": decoded.entity_starts,
            "ends": decoded.entity_ends,
            "scores": decoded.entity_scores,
        }
        outputs = {
            name: values.to_tensor(shape=(None, SERVED_ENTITIES))
            for name, values in columns.items()
        }
        return {**outputs, "count": tf.cast(decoded.entity_starts.row_lengths(), tf.int32)}

    def logits_of(**features: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"logits": task({key: features[key] for key in task.input}, training=False)}

    ones = np.ones((1, _WIDTH), "int32")
    ready = {TOKEN_IDS: ones, SEGMENT_IDS: 0 * ones, PADDING_MASK: ones}
    return {
        "serving_default": ServingSignature(
            entities,
            (tf.TensorSpec((None,), tf.string, name=TEXT),),
            {TEXT: np.array([b"A short text to warm up with."])},
        ),
        "features": ServingSignature(
            logits_of,
            tuple(tf.TensorSpec((None, None), tf.int32, name=key) for key in task.input),
            {key: ready[key] for key in task.input},
        ),
    }
