"""Raw pairs of texts and next-sentence labels to masked batches for a `BertPretrainer`."""

from typing import Any

import keras
import tensorflow as tf

from kerazoo.axes import MASKED_LM, NEXT_SENTENCE
from kerazoo.preprocessing.base import labels_to_ids, texts_of
from kerazoo.preprocessing.masked_lm import MaskedLMPreprocessor


@keras.saving.register_keras_serializable(package="kerazoo")
class BertPretrainerPreprocessor(MaskedLMPreprocessor):
    """Tokenise, pack and mask pairs, and keep whether the second text follows the first.

    Arguments are those of `MaskedLMPreprocessor`.

    Call arguments:
        x: a pair as tuple `(a, b)` or dict `{"text": a, "text_pair": b}`, each (batch,) string.
        y: (batch,) int, 0 if the second text follows, 1 if it comes from elsewhere; or the names
            "next" and "random".
        sample_weight: (batch,) float, optional.
        mask_seed: an int or two, which decide about the masks; optional.

    Returns:
        A tuple of the features of `MaskedLMPreprocessor`, and two dicts with the keys "masked_lm"
        and "next_sentence": targets, (batch, masks) and (batch,) int32, and weights, (batch, masks)
        and (batch,) float32.

    Raises:
        ValueError: for single texts, or without labels.
    """

    next_sentence_labels = ("next", "random")

    def preprocess(
        self, x: Any, y: Any = None, sample_weight: Any = None, mask_seed: Any = None
    ) -> Any:
        """Preprocess a batch; see the class."""
        texts = texts_of(x)
        if len(texts) != 2 or y is None:
            raise ValueError(
                "Pre-training with next sentences needs pairs of texts, and for each 0 (the second "
                f"text follows) or 1. Received: {len(texts)} text(s), "
                f"{'no labels' if y is None else 'labels'}"
            )
        features, mask_ids, mask_weights = super().preprocess(texts, None, sample_weight, mask_seed)
        labels = labels_to_ids(y, self.next_sentence_labels)
        weights = tf.ones_like(labels, tf.float32)
        if sample_weight is not None:
            weights = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
        return (
            features,
            {MASKED_LM: mask_ids, NEXT_SENTENCE: labels},
            {MASKED_LM: mask_weights, NEXT_SENTENCE: weights},
        )
