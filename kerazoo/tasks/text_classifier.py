"""Text classification: one label for a text or a pair of texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TEXT, TEXT_PAIR, TOKEN_IDS
from kerazoo.checks import check_known_arguments, check_rate
from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor
from kerazoo.tasks.base import Task
from kerazoo.tasks.pooled_output import pooled_output
from kerazoo.tasks.raw_inputs import text_columns
from kerazoo.tasks.serving_signature import ServingSignature

SERVED_MULTIPLE = 8
"""A served batch is padded to its longest row, rounded up to a multiple of this."""


@keras.saving.register_keras_serializable(package="kerazoo")
class TextClassifier(Task, keras_nlp.models.TextClassifier):
    """A dense layer on the pooled vector, softmax over the labels.

    For BERT as in Devlin et al. 2018, section 4.1: dropout, then W h + b on the pooled `[CLS]`
    state. The loss is cross-entropy as a weighted mean, Σ w l / Σ w.

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
        pooling: "pooled", the backbone's own vector (BERT: `[CLS]` through its tanh layer), or
            "mean", the mean of all states, which suits sentence encoders such as MiniLM.
        pairs: bool, whether texts come as pairs; `fit` on pairs sets it.
        **kwargs: `name`, `compile`.

    Outputs:
        (batch, classes) float32: logits, or probabilities with `activation="softmax"`.

    Raises:
        ValueError: if neither or contradicting labels are given, fewer than two, or the
            preprocessor packs rows longer than the backbone reads.

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
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        labels = _label_names(labels, num_classes)
        if dropout is None:
            dropout = getattr(getattr(backbone, "config", None), "dropout", 0.1)
        check_rate("dropout", dropout)
        if preprocessor is not None:
            _fit_preprocessor(preprocessor, backbone, labels)

        # === Layers ===
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.dropout_layer = keras.layers.Dropout(
            dropout, dtype=backbone.dtype_policy, name="classifier_dropout"
        )
        self.classifier = keras.layers.Dense(
            len(labels),
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            dtype=backbone.dtype_policy,
            name="classifier",
        )
        # In float32 under every policy, so that softmax and loss are exact.
        self.output_activation = keras.layers.Activation(
            activation or "linear", dtype="float32", name="logits"
        )

        # === Functional graph ===
        self.pooling = pooling  # the first `compile`, in the base class, reads it
        if freeze_backbone:
            backbone.trainable = False
        inputs = backbone.input
        pooled = pooled_output(backbone, inputs, pooling)
        super().__init__(
            inputs=inputs,
            outputs=self.output_activation(self.classifier(self.dropout_layer(pooled))),
            **kwargs,
        )

        # === Config ===
        self.labels = labels
        self.num_classes = len(labels)
        self.dropout = dropout
        self.activation = activation
        self.freeze_backbone = freeze_backbone
        self.pairs = pairs

    def compile(
        self,
        optimizer: Any = "auto",
        loss: Any = "auto",
        *,
        metrics: Any = "auto",
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Set loss, optimizer and metrics; each has a default.

        Args:
            optimizer: "auto" is Adam with a learning rate of 5e-5, as KerasHub's.
            loss: "auto" is sparse categorical cross-entropy, Σ w l / Σ w.
            metrics: "auto" is the accuracy.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow, where
                XLA gains nothing on a CPU and fails under MirroredStrategy.
            **kwargs: further arguments of `keras.Model.compile`.

        Raises:
            ValueError: if the loss expects probabilities and the task gives logits.
        """
        if self.pooling == "mean" and hasattr(self.backbone, "pooler"):
            # Its output is not read, so it has no gradient, and weight decay would shrink it.
            self.backbone.pooler.trainable = False
        from_logits = self.output_activation.activation is not keras.activations.softmax
        if optimizer == "auto":
            optimizer = keras.optimizers.Adam(5e-5)
        if loss == "auto":
            loss = keras.losses.SparseCategoricalCrossentropy(
                from_logits=from_logits, reduction="mean_with_sample_weight"
            )
        elif from_logits:
            _check_takes_logits(loss)
        if metrics == "auto":
            metrics = [keras.metrics.SparseCategoricalAccuracy(name="accuracy")]
        if jit_compile == "auto" and keras.config.backend() == "tensorflow":
            jit_compile = False
        keras.Model.compile(
            self, optimizer=optimizer, loss=loss, metrics=metrics, jit_compile=jit_compile, **kwargs
        )

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
        return [
            {
                "label": self.labels[int(np.argmax(row))],
                "score": float(np.max(row)),
                "probabilities": dict(zip(self.labels, map(float, row), strict=True)),
            }
            for row in self._probabilities(outputs)
        ]

    def class_numbers(self, class_weight: Mapping[Any, float]) -> dict[int, float]:
        """Return class weights by class number; the keys may be label names."""
        if not isinstance(class_weight, Mapping):
            raise ValueError(
                "`class_weight` must be a dict of labels and weights, like "
                f"{{{self.labels[0]!r}: 2.0}}. Received: class_weight={class_weight!r}"
            )
        for weight in class_weight.values():
            if isinstance(weight, str) or not weight >= 0:
                raise ValueError(
                    "The weights in `class_weight` must be numbers of at least 0. "
                    f"Received: class_weight={dict(class_weight)}"
                )
        unknown = [
            key
            for key in class_weight
            if key not in self.labels and key not in range(self.num_classes)
        ]
        if unknown:
            raise ValueError(
                f"`class_weight` names classes the task does not have; it has "
                f"{', '.join(self.labels)}. Received: class_weight={dict(class_weight)}"
            )
        return {
            self.labels.index(key) if isinstance(key, str) else int(key): float(weight)
            for key, weight in class_weight.items()
        }

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

        def answer_features(**features: tf.Tensor) -> dict[str, tf.Tensor]:
            return self._answer(features)

        feature_keys = [
            k for k in (TOKEN_IDS, SEGMENT_IDS, PADDING_MASK) if k in self.backbone.input
        ]
        signatures["features"] = ServingSignature(
            answer_features,
            tuple(tf.TensorSpec((None, None), tf.int32, name=key) for key in feature_keys),
            {key: np.ones((1, 8), dtype="int32") * (key != SEGMENT_IDS) for key in feature_keys},
        )
        return signatures

    def _answer(self, features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        features = {key: features[key] for key in self.backbone.input}
        probabilities = self(features, training=False)
        if self.output_activation.activation is not keras.activations.softmax:
            probabilities = tf.nn.softmax(probabilities)
        names = tf.constant(self.labels)
        every_row = tf.zeros_like(probabilities, dtype=tf.int32) + tf.range(self.num_classes)
        return {
            "label": tf.gather(names, tf.argmax(probabilities, axis=-1)),
            "score": tf.reduce_max(probabilities, axis=-1),
            "probabilities": probabilities,
            "labels": tf.gather(names, every_row),
        }

    def _probabilities(self, outputs: np.ndarray) -> np.ndarray:
        if self.output_activation.activation is keras.activations.softmax:
            return outputs
        shifted = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
        return shifted / shifted.sum(axis=-1, keepdims=True)

    @classmethod
    def merge_config(cls, saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return constructor arguments; a given `num_classes` drops the saved labels."""
        merged = {**saved, **given}
        if "num_classes" in given and "labels" not in given:
            merged.pop("labels", None)
        elif "labels" in given:
            merged.pop("num_classes", None)
        return merged

    @classmethod
    def same_head(cls, saved: Mapping[str, Any], task: "Task") -> bool:
        """Return whether a head saved for `saved["labels"]` fits the task's labels and pooling."""
        same_pooling = saved.get("pooling", "pooled") == task.pooling
        return same_pooling and list(saved.get("labels") or []) == task.labels

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "labels": self.labels,
            "dropout": self.dropout,
            "activation": self.activation,
            "freeze_backbone": self.freeze_backbone,
            "pooling": self.pooling,
            "pairs": self.pairs,
        }


def _label_names(labels: Sequence[str] | None, num_classes: int | None) -> list[str]:
    if labels is None and num_classes is None:
        raise ValueError(
            "The labels are not known: pass `labels=[…]` or `num_classes=…`. "
            "Received: labels=None, num_classes=None"
        )
    if labels is None:
        labels = [str(number) for number in range(num_classes or 0)]
    if isinstance(labels, (str, set, frozenset)):
        raise ValueError(f"`labels` must be a list of names. Received: labels={labels!r}")
    if any(label is None or label == "" for label in labels):
        raise ValueError(f"Every label needs a name. Received: labels={list(labels)}")
    labels = [str(label) for label in labels]
    if num_classes is not None and num_classes != len(labels):
        raise ValueError(
            f"`labels` and `num_classes` disagree. Received: labels={labels}, "
            f"num_classes={num_classes}"
        )
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ValueError(f"At least two different labels are needed. Received: labels={labels}")
    return labels


def _fit_preprocessor(
    preprocessor: TextClassifierPreprocessor, backbone: keras.Model, labels: list[str]
) -> None:
    """Check that the preprocessor suits backbone and labels; give it the labels."""
    limit = getattr(getattr(backbone, "config", None), "max_sequence_length", None)
    if limit is not None and preprocessor.sequence_length > limit:
        raise ValueError(
            f"The backbone reads at most {limit} positions; make the preprocessor's rows shorter. "
            f"Received: sequence_length={preprocessor.sequence_length}"
        )
    rows = getattr(getattr(backbone, "config", None), "vocabulary_size", None)
    tokenizer = preprocessor.tokenizer
    if rows and tokenizer.has_vocabulary and tokenizer.vocabulary_size() > rows:
        raise ValueError(
            f"The tokenizer has more tokens than the backbone has embeddings ({rows}); they belong "
            f"to different models. Received: vocabulary_size={tokenizer.vocabulary_size()}"
        )
    preprocessor.labels = labels


def _check_takes_logits(loss: Any) -> None:
    """Raise ValueError if a cross-entropy loss expects probabilities."""
    named = isinstance(loss, str) and "crossentropy" in loss
    config = loss.get_config() if isinstance(loss, keras.losses.Loss) else {}
    if named or config.get("from_logits") is False:
        raise ValueError(
            "The task gives logits, and this loss expects probabilities. Use "
            "keras.losses.SparseCategoricalCrossentropy(from_logits=True), or make the task with "
            f'activation="softmax". Received: loss={loss!r}'
        )
