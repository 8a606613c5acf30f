"""Text similarity: a label or a score for two texts, the same in either order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np
import tensorflow as tf
from keras import ops

from kerazoo.axes import TEXT, TEXT_PAIR, TOKEN_IDS, Tensor
from kerazoo.layers.text_rows import MergeTexts, SplitTexts
from kerazoo.preprocessing.text_similarity import TextSimilarityPreprocessor
from kerazoo.tasks.class_answers import class_answers, served_class_answers
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE, FineTuningTask
from kerazoo.tasks.label_names import label_names
from kerazoo.tasks.pooled_output import pooled_and_sequence_output
from kerazoo.tasks.raw_inputs import score_column
from kerazoo.tasks.serving_signature import ServingSignature


@keras.saving.register_keras_serializable(package="kerazoo")
class TextSimilarity(FineTuningTask, keras_nlp.models.Task):
    """How two texts relate: classes such as "paraphrase", or a score.

    A causal model reads both orders, `<s> a $ b <e>` and `<s> b $ a <e>`; the states of their last
    tokens are added before the dense layer (Radford et al. 2018, section 3.3), so that the order
    does not matter. BERT, which sees both texts from every position, reads `[CLS] a [SEP] b [SEP]`.

    Args:
        backbone: any encoder with a pooled or a sequence output.
        labels: label names in the order of the classes. With `num_classes` alone the names are
            "0", "1", …. With neither the task gives a score and the loss is the squared error.
        num_classes: int, number of classes, if there are no names.
        preprocessor: a `TextSimilarityPreprocessor`; None if `fit` gets ready inputs.
        both_orders: bool, read both orders; None does so where the backbone is causal.
        dropout: float, dropout rate before the dense layer; None is the backbone's own.
        freeze_backbone: bool, train the head only; the backbone then runs without dropout.
        pooling: "pooled", the backbone's own vector, or "mean", the mean of all states.
        lm_loss_weight: float, λ, the weight of the language-modelling loss; None is 0.5 on a causal
            backbone that trains, else 0.
        **kwargs: `name`, `compile`.

    Inputs: `token_ids` and the like, with both orders (batch, 2, seq) int32, else (batch, seq).

    Outputs:
        (batch, classes) float32 logits, or (batch, 1) float32 scores, which `predict` gives as
        (batch,). With λ > 0 the model itself gives a dict of "logits" and "sequence_output".

    Raises:
        ValueError: if contradicting labels are given, fewer than two, the preprocessor does not
            suit the backbone, or λ > 0 and the backbone is not causal or is frozen.

    Example:
        task = kerazoo.TextSimilarity.from_preset("path/to/gpt2")
        task.fit((["a dog", "a dog"], ["a hound", "a boat"]), [4.8, 0.2])
        task.compare((["a dog"], ["a puppy"]))
    """

    task_name = "text-similarity"
    preprocessor_cls = TextSimilarityPreprocessor

    def __init__(
        self,
        backbone: keras.Model,
        labels: Sequence[str] | None = None,
        num_classes: int | None = None,
        preprocessor: TextSimilarityPreprocessor | None = None,
        both_orders: bool | None = None,
        dropout: float | None = None,
        freeze_backbone: bool = False,
        pooling: str = "pooled",
        lm_loss_weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        self.regression = labels is None and num_classes is None
        labels = [] if self.regression else label_names(labels, num_classes)
        self.make_head(
            backbone,
            preprocessor,
            units=len(labels) or 1,
            dropout=dropout,
            activation=None,
            freeze_backbone=freeze_backbone,
            pooling=pooling,
            lm_loss_weight=lm_loss_weight,
            kwargs=kwargs,
        )
        if both_orders is None:
            both_orders = hasattr(backbone, "next_token_logits")
        if preprocessor is not None:
            preprocessor.labels = labels or None
            preprocessor.both_orders = both_orders
        inputs, pooled, states = self._encoded(both_orders)
        outputs = self.output_activation(self.classifier(self.dropout_layer(pooled)))
        self.finish(inputs, outputs, states, **kwargs)
        self.labels = labels
        self.both_orders = both_orders
        self.pairs = True

    def _encoded(self, both_orders: bool) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """Return the inputs, one vector a pair, and the states of all texts."""
        backbone, pooling = self.backbone, self.pooling
        if not both_orders:
            return backbone.input, *pooled_and_sequence_output(backbone, backbone.input, pooling)
        inputs = {
            key: keras.Input((2, None), dtype=value.dtype, name=key)
            for key, value in backbone.input.items()
        }
        merged = {key: MergeTexts(name=f"merge_{key}")(value) for key, value in inputs.items()}
        pooled, states = pooled_and_sequence_output(backbone, merged, pooling)
        split = SplitTexts(dtype=backbone.dtype_policy, name="split_orders")
        pooled = ops.sum(split(pooled, like=inputs[TOKEN_IDS]), axis=1)
        return inputs, pooled, states

    def compare(self, texts: Any, batch_size: int = 32) -> list[dict[str, Any]]:
        """Return how the texts of each pair relate.

        Args:
            texts: pairs as for `fit`.
            batch_size: int, pairs computed together.

        Returns:
            For each pair a dict of "label" (str), "score" (float, its probability) and
            "probabilities" (dict of label and probability); of a regression only "score" (float).
        """
        outputs = self.predict(self.raw_columns(texts), batch_size=batch_size, verbose=0)
        if self.regression:
            return [{"score": float(score)} for score in outputs]
        return class_answers(self.probabilities(outputs), self.labels)

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return pairs in memory as columns; single texts are refused."""
        columns = super().raw_columns(x)
        if columns is not None and TEXT_PAIR not in columns:
            raise ValueError(
                "Similarity compares two texts; pass pairs as (list_a, list_b) or "
                f'{{"{TEXT}": …, "{TEXT_PAIR}": …}}. Received: keys={sorted(columns)}'
            )
        return columns

    def raw_labels(self, y: Any, rows: int) -> tf.Tensor:
        """Return labels as class numbers, (rows,) int32, or scores, (rows,) float32."""
        return score_column(y, rows) if self.regression else super().raw_labels(y, rows)

    def plain_outputs(self, outputs: Any) -> Tensor:
        """Return logits, (batch, classes), or scores, (batch,)."""
        outputs = super().plain_outputs(outputs)
        return ops.squeeze(outputs, axis=-1) if self.regression else outputs

    def no_rows(self) -> np.ndarray:
        """Return what `predict` gives for no texts."""
        return np.zeros((0,), dtype="float32") if self.regression else super().no_rows()

    def export_to_transformers(self, path: str | Path) -> None:
        """Raise TypeError: Hugging Face has no model that reads as this task does."""
        raise TypeError(
            "A TextSimilarity is not written as a Hugging Face folder; write its backbone with "
            f"`task.backbone.export_to_transformers`. Received: path={str(path)!r}"
        )

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (two raw texts) and `features` (ready token ids)."""
        signatures = {}
        preprocessor = self.preprocessor
        if preprocessor is not None:

            def answer_texts(text: tf.Tensor, text_pair: tf.Tensor) -> dict[str, tf.Tensor]:
                return self._answer(preprocessor.pack_texts((text, text_pair), SERVED_MULTIPLE))

            signatures["serving_default"] = ServingSignature(
                answer_texts,
                tuple(tf.TensorSpec((None,), tf.string, name=key) for key in (TEXT, TEXT_PAIR)),
                {key: np.array([b"A short text to warm up with."]) for key in (TEXT, TEXT_PAIR)},
            )
        orders = (2,) if self.both_orders else ()
        signatures["features"] = self.features_signature(self._answer, orders)
        return signatures

    def _answer(self, features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        outputs = self.served_outputs(features)
        return {"score": outputs} if self.regression else served_class_answers(outputs, self.labels)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "labels": self.labels or None,
            "both_orders": self.both_orders,
        }
