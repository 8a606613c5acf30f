"""Raw pairs of texts and labels, or scores, to the inputs of a `TextSimilarity`."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerazoo.preprocessing.base import labels_to_ids, texts_of
from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor
from kerazoo.tokenizers.base import Tokenizer


@keras.saving.register_keras_serializable(package="kerazoo")
class TextSimilarityPreprocessor(TextClassifierPreprocessor):
    """Tokenise, pack and pad pairs of texts, in one order or in both.

    A task sets `both_orders` and `labels` as it needs them.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row; of a longer pair the longer text is cut.
        labels: label names in the order of the classes; None if the labels are scores.
        both_orders: bool, give each pair as `a b` and as `b a`.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: a pair as tuple `(a, b)` or dict `{"text": a, "text_pair": b}`, each (batch,) string.
        y: (batch,) label names, class numbers or scores, optional.
        sample_weight: (batch,) float, optional.

    Returns:
        A dict of `token_ids`, `segment_ids`, `padding_mask`, each (batch, seq) int32, or
        (batch, 2, seq) with both orders; with `y` a tuple of it and (batch,) int32 classes or
        (batch, 1) float32 scores, with `sample_weight` that too.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 512,
        labels: Sequence[str] | None = None,
        both_orders: bool = False,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, sequence_length, labels, pad_to_multiple_of, **kwargs)
        self.both_orders = both_orders

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        features = self.pack_texts(texts_of(x), self.pad_to_multiple_of)
        if y is not None and self.labels is None:
            y = tf.reshape(tf.cast(tf.convert_to_tensor(y), tf.float32), (-1, 1))
        elif y is not None:
            y = labels_to_ids(y, self.labels)
        if sample_weight is not None:
            sample_weight = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
        return keras.utils.pack_x_y_sample_weight(features, y, sample_weight)

    def pack_texts(
        self, texts: Sequence[tf.Tensor], pad_to_multiple_of: int | None
    ) -> dict[str, tf.Tensor]:
        """Return the model's inputs for two text tensors, (batch,) string.

        Raises:
            ValueError: if there is only one.
        """
        if len(texts) != 2:
            raise ValueError(f"Similarity compares two texts. Received: {len(texts)} texts")
        segments = [self.tokenizer.tokenize(part) for part in texts]
        if not self.both_orders:
            return self.pack_segments(segments, pad_to_multiple_of)
        orders = [self.pack_segments(s, pad_to_multiple_of) for s in (segments, segments[::-1])]
        return {key: tf.stack([order[key] for order in orders], axis=1) for key in orders[0]}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "both_orders": self.both_orders}
