"""The signatures of an exported `ExtractiveQA`: question and passage in, answer out."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import (
    ANSWER_MASK,
    CONTEXT,
    END_LOGITS,
    PADDING_MASK,
    QUESTION,
    SEGMENT_IDS,
    START_LOGITS,
    TOKEN_IDS,
)
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE
from kerazoo.tasks.serving_signature import ServingSignature

SERVED_TOP_K = 5
"""Entries of the list of best answers: the width is fixed, whatever else is in the batch."""

_WIDTH = 8


def extractive_qa_signatures(task: Any) -> dict[str, ServingSignature]:
    """Return the signatures of a task that finds answers.

    `serving_default` takes `question` and `context`, (batch,) string, reads long contexts in
    windows, and answers what `SpanDecoder.decode` says, with the 5 best answers. `features` takes
    `token_ids`, `segment_ids`, `padding_mask` and `answer_mask` and gives `start_logits` and
    `end_logits`, (batch, seq) float32.

    Args:
        task: an `ExtractiveQA` with a preprocessor.
    """
    decoder = task.decoder()

    def answer(question: tf.Tensor, context: tf.Tensor) -> dict[str, tf.Tensor]:
        passages = task.preprocessor.read(question, context, SERVED_MULTIPLE)
        logits = logits_of(**passages.features)
        return decoder.decode(logits[START_LOGITS], logits[END_LOGITS], passages, SERVED_TOP_K)

    def logits_of(**features: tf.Tensor) -> dict[str, tf.Tensor]:
        outputs = task({key: features[key] for key in task.input}, training=False)
        return {key: outputs[key] for key in (START_LOGITS, END_LOGITS)}

    return {
        "serving_default": ServingSignature(
            answer,
            tuple(tf.TensorSpec((None,), tf.string, name=key) for key in (QUESTION, CONTEXT)),
            {
                QUESTION: np.array([b"What is it?"]),
                CONTEXT: np.array([b"It is a short text to warm up with."]),
            },
        ),
        "features": ServingSignature(
            logits_of,
            tuple(tf.TensorSpec((None, None), tf.int32, name=key) for key in task.input),
            _ready_example(task),
        ),
    }


def _ready_example(task: Any) -> dict[str, np.ndarray]:
    ones = np.ones((1, _WIDTH), "int32")
    values = {TOKEN_IDS: ones, SEGMENT_IDS: 0 * ones, PADDING_MASK: ones, ANSWER_MASK: ones}
    return {key: values[key] for key in task.input}
