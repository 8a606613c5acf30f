"""Raw texts (or pairs) and labels to the inputs of a `TextClassifier`."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerazoo.checks import check_positive
from kerazoo.preprocessing.base import Preprocessor, labels_to_ids, texts_of
from kerazoo.preprocessing.packing import check_room, pack
from kerazoo.tokenizers.base import Tokenizer


@keras.saving.register_keras_serializable(package="kerazoo")
class TextClassifierPreprocessor(Preprocessor):
    """Tokenise, pack and pad texts; turn label names into class numbers.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row; longer texts are truncated, of a pair
            always the longer one, as Hugging Face's `truncation=True` does.
        labels: label names in the order of the classes; None if labels are numbers.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: (batch,) string, or a pair as tuple `(a, b)` or dict `{"text": a, "text_pair": b}`.
        y: (batch,) label names or class numbers, optional.
        sample_weight: (batch,) float, optional.

    Returns:
        A dict of `token_ids`, `segment_ids`, `padding_mask`, each (batch, seq) int32; with `y` a
        tuple of it and (batch,) int32, with `sample_weight` that too.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 512,
        labels: Sequence[str] | None = None,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        check_room(sequence_length, specials=2)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.labels = None if labels is None else list(labels)
        self.pad_to_multiple_of = pad_to_multiple_of

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        features = self.pack_texts(texts_of(x), self.pad_to_multiple_of)
        if y is not None:
            y = labels_to_ids(y, self.labels)
        if sample_weight is not None:
            sample_weight = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
        return keras.utils.pack_x_y_sample_weight(features, y, sample_weight)

    def pack_texts(
        self, texts: Sequence[tf.Tensor], pad_to_multiple_of: int | None
    ) -> dict[str, tf.Tensor]:
        """Return the backbone's inputs for one or two text tensors, (batch,) string."""
        segments = [self.tokenizer.tokenize(part) for part in texts]
        return self.pack_segments(segments, pad_to_multiple_of)

    def pack_segments(
        self, segments: Sequence[tf.RaggedTensor], pad_to_multiple_of: int | None
    ) -> dict[str, tf.Tensor]:
        """Return the backbone's inputs for the ids of one or two texts, (batch, tokens) int32."""
        return pack(segments, self.template, self.sequence_length, pad_to_multiple_of)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "labels": self.labels,
            "pad_to_multiple_of": self.pad_to_multiple_of,
        }
