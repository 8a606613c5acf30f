"""The signatures of an exported `BertPretrainer`: masks to fill in, and pairs to judge."""

from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.axes import POOLED_OUTPUT, TEXT, TEXT_PAIR
from kerazoo.preprocessing.packing import pack
from kerazoo.tasks.class_answers import served_class_answers
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE
from kerazoo.tasks.masked_lm_signatures import masked_lm_signatures
from kerazoo.tasks.next_sentence import NEXT_SENTENCE_LABELS
from kerazoo.tasks.serving_signature import ServingSignature


def bert_pretrainer_signatures(task: Any) -> dict[str, ServingSignature]:
    """Return the signatures of masked words, and `next_sentence`.

    `next_sentence` takes `text` and `text_pair`, (batch,) string, and answers `label`, "next" or
    "random", `score`, `probabilities` and `labels`, as a `NextSentencePredictor` does.

    Args:
        task: a `BertPretrainer` with a preprocessor.

    Raises:
        ValueError: if it has no preprocessor.
    """
    signatures = masked_lm_signatures(task)
    preprocessor = task.preprocessor

    def judge(text: tf.Tensor, text_pair: tf.Tensor) -> dict[str, tf.Tensor]:
        segments = [preprocessor.tokenizer.tokenize(part) for part in (text, text_pair)]
        features = pack(
            segments, preprocessor.template, preprocessor.sequence_length, SERVED_MULTIPLE
        )
        features = {key: features[key] for key in task.backbone.input}
        pooled = task.backbone(features, training=False)[POOLED_OUTPUT]
        probabilities = tf.nn.softmax(task.next_sentence_logits(pooled))
        return served_class_answers(probabilities, NEXT_SENTENCE_LABELS)

    signatures["next_sentence"] = ServingSignature(
        judge,
        tuple(tf.TensorSpec((None,), tf.string, name=key) for key in (TEXT, TEXT_PAIR)),
        {key: np.array([b"A short text to warm up with."]) for key in (TEXT, TEXT_PAIR)},
    )
    return signatures
