"""What the tasks with a dense layer on pooled vectors share: head, defaults, labels, export."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TOKEN_IDS, Tensor
from kerazoo.checks import check_known_arguments, check_rate
from kerazoo.tasks.auxiliary_lm_loss import AuxiliaryLMLoss
from kerazoo.tasks.base import Task
from kerazoo.tasks.class_answers import softmax
from kerazoo.tasks.compile_defaults import default_jit_compile, default_optimizer
from kerazoo.tasks.label_names import weights_by_class
from kerazoo.tasks.pooled_output import train_pooler
from kerazoo.tasks.preprocessor_checks import check_preprocessor
from kerazoo.tasks.serving_signature import ServingSignature

SERVED_MULTIPLE = 8
"""A served batch is padded to its longest row, rounded up to a multiple of this."""


class FineTuningTask(AuxiliaryLMLoss):
    """Dropout, then W h + b on the pooled vector of each text.

    A constructor calls `make_head` first, makes the functional graph of the layers, and passes it
    on with `finish`.

    Attributes:
        labels: the label names in the order of the classes; [] without classes.
        head_name: name of the dense layer.
    """

    needs_task_tokens: ClassVar[bool] = True
    head_name: ClassVar[str] = "classifier"
    labels: list[str]
    regression = False

    def make_head(
        self,
        backbone: keras.Model,
        preprocessor: Any,
        units: int,
        dropout: float | None,
        activation: str | None,
        freeze_backbone: bool,
        pooling: str,
        lm_loss_weight: float | None,
        kwargs: Mapping[str, Any],
        noise_shape: tuple[int | None, ...] | None = None,
    ) -> None:
        """Check the arguments and create the head's layers.

        Args:
            backbone: the backbone.
            preprocessor: the preprocessor, or None.
            units: int, outputs of the dense layer.
            dropout: float, dropout rate before it; None is the backbone's own.
            activation: None for logits, "softmax" for probabilities.
            freeze_backbone: bool, train the head only.
            pooling: one of `kerazoo.tasks.pooled_output.POOLINGS`.
            lm_loss_weight: λ; see `AuxiliaryLMLoss`.
            kwargs: the constructor's further arguments.
            noise_shape: axes along which the dropout is one and the same, as for Keras's `Dropout`.
        """
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        if dropout is None:
            dropout = getattr(getattr(backbone, "config", None), "dropout", 0.1)
        check_rate("dropout", dropout)
        if preprocessor is not None:
            check_preprocessor(preprocessor, backbone)
        self.set_lm_loss_weight(lm_loss_weight, backbone, freeze_backbone)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.dropout = dropout
        self.dropout_layer = keras.layers.Dropout(
            dropout,
            noise_shape=noise_shape,
            dtype=backbone.dtype_policy,
            name=f"{self.head_name}_dropout",
        )
        self.classifier = keras.layers.Dense(
            units,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            dtype=backbone.dtype_policy,
            name=self.head_name,
        )
        # In float32 under every policy, so that softmax and loss are exact.
        self.output_activation = keras.layers.Activation(
            activation or "linear", dtype="float32", name="logits"
        )
        self.pooling = pooling
        self.freeze_backbone = freeze_backbone
        if pooling == "pooled":
            train_pooler(backbone, is_read=True)
        if freeze_backbone:
            backbone.trainable = False

    def finish(
        self, inputs: dict[str, Tensor], outputs: Tensor, states: Tensor, **kwargs: Any
    ) -> None:
        """Make the model of its graph.

        Args:
            inputs: the inputs by name.
            outputs: the head's output.
            states: the backbone's states of all texts, (…, seq, hidden).
            **kwargs: further arguments of the model.
        """
        super().__init__(inputs=inputs, outputs=self.outputs_for_loss(outputs, states), **kwargs)
        self.make_loss_trackers()

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
            loss: "auto" is sparse categorical cross-entropy, Σ w l / Σ w; of a regression the
                squared error.
            metrics: "auto" is the accuracy; of a regression the mean absolute error.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow, where
                XLA gains nothing on a CPU and fails under MirroredStrategy.
            **kwargs: further arguments of `keras.Model.compile`.

        Raises:
            ValueError: if the loss expects probabilities and the task gives logits.
        """
        if self.pooling == "mean":
            train_pooler(self.backbone, is_read=False)
        if loss == "auto":
            loss = self._default_loss()
        elif not self.regression and not self._gives_probabilities:
            _check_takes_logits(loss)
        if metrics == "auto":
            metrics = [self.default_metric()]
        keras.Model.compile(
            self,
            optimizer=default_optimizer(optimizer),
            loss=loss,
            metrics=metrics,
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    def class_numbers(self, class_weight: Mapping[Any, float]) -> dict[int, float]:
        """Return class weights by class number; the keys may be label names."""
        if not self.labels:
            raise ValueError(
                f"This task has no classes to weigh; pass `sample_weight` instead. "
                f"Received: class_weight={class_weight!r}"
            )
        return weights_by_class(class_weight, self.labels)

    def default_metric(self) -> keras.metrics.Metric:
        """Return the metric that `compile` means by "auto"."""
        if self.regression:
            return keras.metrics.MeanAbsoluteError(name="mean_absolute_error")
        return keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    def no_rows(self) -> np.ndarray:
        """Return what `predict` gives for no texts."""
        return np.zeros((0, len(self.labels)), dtype="float32")

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """Return the probabilities of outputs of `predict`, (rows, classes) float32."""
        return outputs if self._gives_probabilities else softmax(outputs)

    def served_outputs(self, features: Mapping[str, tf.Tensor]) -> tf.Tensor:
        """Return the plain outputs for ready features in a served graph, probabilities of classes.

        Args:
            features: the model's inputs by name, and perhaps more.
        """
        features = {key: features[key] for key in self.backbone.input}
        outputs = self.plain_outputs(self(features, training=False))
        plain = self.regression or self._gives_probabilities
        return outputs if plain else tf.nn.softmax(outputs)

    def features_signature(
        self, answer: Any, texts_of_row: tuple[int | None, ...] = ()
    ) -> ServingSignature:
        """Return the signature that takes ready ids.

        Args:
            answer: takes a dict of the features and returns the outputs.
            texts_of_row: sizes of the axes between batch and seq.
        """
        keys = [key for key in (TOKEN_IDS, SEGMENT_IDS, PADDING_MASK) if key in self.backbone.input]
        shape = (1, *(size or 2 for size in texts_of_row), 8)
        return ServingSignature(
            lambda **features: answer(features),
            tuple(tf.TensorSpec((None, *texts_of_row, None), tf.int32, name=key) for key in keys),
            {key: np.ones(shape, dtype="int32") * (key != SEGMENT_IDS) for key in keys},
        )

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
    def same_head(cls, saved: Mapping[str, Any], task: Task) -> bool:
        """Return whether a head saved for `saved["labels"]` fits the task's labels and pooling."""
        same_pooling = saved.get("pooling", "pooled") == task.pooling
        same_labels = list(saved.get("labels") or []) == list(task.labels)
        return bool(saved) and same_pooling and same_labels

    @property
    def _gives_probabilities(self) -> bool:
        return self.output_activation.activation is keras.activations.softmax

    def _default_loss(self) -> keras.losses.Loss:
        if self.regression:
            return keras.losses.MeanSquaredError(reduction="mean_with_sample_weight")
        return keras.losses.SparseCategoricalCrossentropy(
            from_logits=not self._gives_probabilities, reduction="mean_with_sample_weight"
        )

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments that all these tasks have."""
        return {
            **super().get_config(),
            "dropout": self.dropout,
            "freeze_backbone": self.freeze_backbone,
            "pooling": self.pooling,
        }


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
