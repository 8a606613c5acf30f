"""Text classification: one label for a text or a pair of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor
from kerazoo.tasks.class_answers import class_answers, served_class_answers
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE, FineTuningTask
from kerazoo.tasks.label_names import label_names
from kerazoo.tasks.pooled_output import pooled_and_sequence_output
from kerazoo.tasks.raw_inputs import text_columns
from kerazoo.tasks.serving_signature import ServingSignature


@keras.saving.register_keras_serializable(package="kerazoo")
class TextClassifier(FineTuningTask, keras_nlp.models.TextClassifier):
    """A dense layer on the pooled vector, softmax over the labels.

    For BERT as in Devlin et al. 2018, section 4.1: dropout, then W h + b on the pooled `[CLS]`
    state. For GPT as in Radford et al. 2018, section 3.2: the same on the state of the last token
    of `<s> text <e>` or `<s> text $ text_pair <e>`, and λ times the language-modelling loss is
    added. The loss is cross-entropy as a weighted mean, Σ w l / Σ w.

    Args:
        backbone: any encoder with a pooled or a sequence output.
        labels: label names in the order of the classes. With `num_classes` alone the names are
            "0", "1", ….
        num_classes: int, number of classes, if there are no names.
        preprocessor: a `TextClassifierPreprocessor`; None if `fit` gets ready inputs.
        dropout: float, dropout rate before the dense layer; None is the backbone's own.
        activation: None for logits, "softmax" for probabilities.
        freeze_backbone: bool, train the head only (feature extraction); the backbone then runs
            without dropout.
        pooling: "pooled", the backbone's own vector (BERT: `[CLS]` through its tanh layer; GPT: the
            last token's state), or "mean", the mean of all states, which suits sentence encoders
            such as MiniLM.
        pairs: bool, whether texts come as pairs; `fit` on pairs sets it.
        lm_loss_weight: float, λ, the weight of the language-modelling loss; None is 0.5 on a causal
            backbone that trains, else 0.
        **kwargs: `name`, `compile`.

    Outputs:
        (batch, classes) float32: logits, or probabilities with `activation="softmax"`. With λ > 0
        the model itself gives a dict of "logits" and "sequence_output"; `predict` gives the
        former.

    Raises:
        ValueError: if neither or contradicting labels are given, fewer than two, the preprocessor
            does not suit the backbone, or λ > 0 and the backbone is not causal or is frozen.

    Example:
        task = kerazoo.TextClassifier.from_preset("path/to/bert", labels=["bad", "good"])
        task.fit(["dull", "lovely"], ["bad", "good"], epochs=3)
        task.classify(["what a day"])
    """

    task_name = "text-classification"
    preprocessor_cls = TextClassifierPreprocessor

    def __init__(
        self,
        backbone: keras.Model,
        labels: Sequence[str] | None = None,
        num_classes: int | None = None,
        preprocessor: TextClassifierPreprocessor | None = None,
        dropout: float | None = None,
        activation: str | None = None,
        freeze_backbone: bool = False,
        pooling: str = "pooled",
        pairs: bool = False,
        lm_loss_weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        labels = label_names(labels, num_classes)
        self.make_head(
            backbone,
            preprocessor,
            units=len(labels),
            dropout=dropout,
            activation=activation,
            freeze_backbone=freeze_backbone,
            pooling=pooling,
            lm_loss_weight=lm_loss_weight,
            kwargs=kwargs,
        )
        if preprocessor is not None:
            preprocessor.labels = labels
        inputs = backbone.input
        pooled, states = pooled_and_sequence_output(backbone, inputs, pooling)
        outputs = self.output_activation(self.classifier(self.dropout_layer(pooled)))
        self.finish(inputs, outputs, states, **kwargs)
        self.labels = labels
        self.num_classes = len(labels)
        self.activation = activation
        self.pairs = pairs

    def export_to_transformers(self, path: str | Path) -> None:
        """Write a Hugging Face folder; see `Task`.

        Raises:
            ValueError: if the task pools by the mean, which `BertForSequenceClassification` cannot.
        """
        if self.pooling != "pooled":
            raise ValueError(
                "Hugging Face's BertForSequenceClassification reads the pooled [CLS] vector only. "
                f"Received: pooling={self.pooling!r}"
            )
        super().export_to_transformers(path)

    def classify(self, texts: Any, batch_size: int = 32) -> list[dict[str, Any]]:
        """Return the label of each text.

        Args:
            texts: a list of texts, or pairs as for `fit`.
            batch_size: int, texts computed together.

        Returns:
            For each text a dict of "label" (str), "score" (float, its probability) and
            "probabilities" (dict of label and probability).
        """
        outputs = self.predict(text_columns(texts), batch_size=batch_size, verbose=0)
        return class_answers(self.probabilities(outputs), self.labels)

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (raw text) and `features` (ready token ids)."""
        text_keys = (TEXT, TEXT_PAIR) if self.pairs else (TEXT,)
        signatures = {}
        preprocessor = self.preprocessor
        if preprocessor is not None:

            def answer_texts(**texts: tf.Tensor) -> dict[str, tf.Tensor]:
                parts = [texts[key] for key in text_keys]
                return self._answer(preprocessor.pack_texts(parts, SERVED_MULTIPLE))

            signatures["serving_default"] = ServingSignature(
                answer_texts,
                tuple(tf.TensorSpec((None,), tf.string, name=key) for key in text_keys),
                {key: np.array([b"A short text to warm up with."]) for key in text_keys},
            )
        signatures["features"] = self.features_signature(self._answer)
        return signatures

    def _answer(self, features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return served_class_answers(self.served_outputs(features), self.labels)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "labels": self.labels,
            "activation": self.activation,
            "pairs": self.pairs,
        }
