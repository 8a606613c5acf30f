"""Token classification: a tag for each word, such as which entity it belongs to."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras
import keras_nlp
import numpy as np

from kerazoo.axes import PADDING_MASK, Tensor
from kerazoo.checks import check_known_arguments, check_positive, check_rate
from kerazoo.layers.crf import CRF
from kerazoo.metrics.entity_f1 import EntityF1
from kerazoo.preprocessing.tag_targets import TagTable
from kerazoo.preprocessing.token_classifier import TokenClassifierPreprocessor
from kerazoo.tasks.base import Task
from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)
from kerazoo.tasks.crf_arguments import check_crf_arguments
from kerazoo.tasks.crf_loss import crf_loss, crf_weight, decoded_rows
from kerazoo.tasks.crf_moves import illegal_tag_moves
from kerazoo.tasks.label_names import label_names, weights_by_class
from kerazoo.tasks.pooled_output import pooled_and_sequence_output, train_pooler
from kerazoo.tasks.preprocessor_checks import check_preprocessor
from kerazoo.tasks.serving_signature import ServingSignature
from kerazoo.tasks.tag_decoder import TagDecoder
from kerazoo.tasks.tagged_columns import tagged_columns
from kerazoo.tasks.tagged_training import TaggedTraining
from kerazoo.tasks.token_classifier_signatures import token_classifier_signatures
from kerazoo.tasks.word_tagger import WordTagger

_CRF_LOSS = "crf_loss"


@keras.saving.register_keras_serializable(package="kerazoo")
class TokenClassifier(TaggedTraining, keras_nlp.models.Task):
    """Gives each word a tag: dropout, then W h + b on the state of its first token.

    The loss is the cross-entropy of the tags, or with a CRF −log P of the whole sequence a word.
    Entities are runs of words in BIO: B- begins one, I- goes on with it; an I- that goes on with
    none of its type begins one, as in `seqeval`'s default mode. Long texts are read in overlapping
    windows, in training and in tagging, and no entity is cut in two by them.

    Args:
        backbone: any encoder that outputs a sequence of states.
        labels: the tags in the order of the classes, such as "O", "B-PER", "I-PER".
        num_classes: int, instead of `labels`: the tags "0", "1", ….
        preprocessor: a `TokenClassifierPreprocessor`; None if `fit` gets ready inputs.
        crf: bool, score whole sequences by a linear-chain CRF over the words' first tokens.
        ban_illegal_moves: bool, let the CRF give no I- that goes on with no entity of its type.
        dropout: float, dropout rate before the dense layer; None is the backbone's own.
        freeze_backbone: bool, train the head only; the backbone then runs without dropout.
        **kwargs: `name`, `compile`.

    Inputs: the backbone's.

    Outputs:
        Logits, (batch, seq, tags) float32.

    Raises:
        ValueError: if the preprocessor does not suit the backbone or the CRF, or there are no
            labels.

    Example:
        labels = ["O", "B-PER", "I-PER"]
        task = kerazoo.TokenClassifier.from_preset("path/to/bert", labels=labels)
        task.fit({"words": [["Ada", "came"]]}, [["B-PER", "O"]])
        task.tag(["On Monday Ada came."])[0]["entities"]
    """

    task_name = "token-classification"
    preprocessor_cls = TokenClassifierPreprocessor
    preprocessor_arguments: ClassVar[tuple[str, ...]] = (
        *Task.preprocessor_arguments,
        "stride",
        "label_all_pieces",
        "word_separator",
    )
    needs_task_tokens: ClassVar[bool] = True

    def __init__(
        self,
        backbone: keras.Model,
        labels: Sequence[str] | None = None,
        num_classes: int | None = None,
        preprocessor: TokenClassifierPreprocessor | None = None,
        crf: bool = False,
        ban_illegal_moves: bool = False,
        dropout: float | None = None,
        freeze_backbone: bool = False,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        labels = label_names(labels, num_classes)
        if dropout is None:
            dropout = getattr(getattr(backbone, "config", None), "dropout", 0.1)
        check_rate("dropout", dropout)
        all_pieces = preprocessor is not None and preprocessor.label_all_pieces
        check_crf_arguments(crf, ban_illegal_moves, all_pieces)
        if preprocessor is not None:
            check_preprocessor(preprocessor, backbone)
            preprocessor.labels = labels
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
        last = keras.layers.Activation("linear", dtype="float32", name="logits")
        if crf:
            moves = illegal_tag_moves(labels) if ban_illegal_moves else {}
            last = CRF(len(labels), **moves, name="crf")
        _, states = pooled_and_sequence_output(backbone, backbone.input)
        outputs = last(self.classifier(self.dropout_layer(states)))
        self.crf = last if crf else None
        self._is_training: bool | None = None
        self._decoded: tuple[Tensor, ...] | None = None
        self.labels = labels
        super().__init__(inputs=backbone.input, outputs=outputs, **kwargs)
        self.tag_table = TagTable.of(labels)
        self.num_classes = len(labels)
        self.dropout = dropout
        self.ban_illegal_moves = ban_illegal_moves
        self.freeze_backbone = freeze_backbone
        self.pairs = False
        if freeze_backbone:
            backbone.trainable = False

    # ---- loss and metrics ----------------------------------------------------------------------

    def compile(
        self,
        optimizer: Any = "auto",
        loss: Any = "auto",
        *,
        weighted_metrics: Any = "auto",
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Set loss, optimizer and metrics; each has a default.

        Args:
            optimizer: "auto" is Adam with a learning rate of 5e-5.
            loss: "auto" is sparse categorical cross-entropy, Σ w l / Σ w over the words; with a CRF
                −log P of each window's tags, a word, and no other loss can be given.
            weighted_metrics: "auto" is the F1 of entities; with a CRF it is measured in evaluation
                only, as finding the best tags takes as long as the loss.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow.
            **kwargs: further arguments of `keras.Model.compile`.

        Raises:
            ValueError: if the task has a CRF and a loss is given.
        """
        train_pooler(self.backbone, is_read=False)
        # Not known; JAX then makes the metrics' variables before it computes.
        self._is_training = None
        if self.crf is not None and loss not in ("auto", None):
            raise ValueError(f"The loss of a CRF is its own. Received: loss={loss!r}")
        if loss == "auto":
            loss = None if self.crf is not None else weighted_cross_entropy()
        if weighted_metrics == "auto":
            weighted_metrics = [EntityF1(self.labels)]
        super().compile(
            optimizer=default_optimizer(optimizer),
            loss=loss,
            weighted_metrics=weighted_metrics,
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """Return the loss of a batch; see `keras.Model.compute_loss`."""
        if self.crf is None:
            return super().compute_loss(x, y, y_pred, sample_weight, training)
        mask = x[PADDING_MASK] if sample_weight is None else sample_weight
        self._is_training = training
        if not training:
            # Here and not for the metrics, which on JAX see no weights.
            self._decoded = decoded_rows(self.crf, y_pred, y, mask)
        loss = self.loss_term(_CRF_LOSS, crf_loss(self.crf, y_pred, y, mask))
        return sum(map(self._aggregate_additional_loss, self.losses), start=loss)

    def loss_weights(self, x: Any, y: Any, sample_weight: Any = None) -> dict[str, Tensor]:
        """Return what the means of the loss are divided by; see `WholeBatch`."""
        weights = super().loss_weights(x, y, sample_weight)
        if self.crf is None:
            return weights
        mask = x[PADDING_MASK] if sample_weight is None else sample_weight
        return {**weights, _CRF_LOSS: crf_weight(mask)}

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Update the metrics; those of a CRF see its best tags, in evaluation."""
        if self.crf is not None and self._is_training:
            return self.get_metrics_result()
        rows, self._decoded = self._decoded or (y, y_pred, sample_weight), None
        return super().compute_metrics(x, *rows)

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the metrics by name; of a CRF in training only the loss."""
        if self.crf is not None and self._is_training:
            return {"loss": self._loss_tracker.result()}
        return super().get_metrics_result()

    def class_numbers(self, class_weight: Mapping[Any, float]) -> dict[int, float]:
        """Return the weights of tags by their numbers; the keys may be names."""
        if self.crf is not None:
            raise ValueError(
                "A CRF scores whole sequences of tags, so tags have no weights of their own; weigh "
                f"texts with `sample_weight`. Received: class_weight={class_weight!r}"
            )
        return weights_by_class(class_weight, self.labels)

    # ---- tags and entities ---------------------------------------------------------------------

    def tag(self, x: Any, batch_size: int = 32) -> list[dict[str, Any]]:
        """Tag words, and find entities.

        Args:
            x: texts or words, as for `fit`.
            batch_size: int, windows computed together.

        Returns:
            For each row a dict of "entities", a list of dicts of "text" (`text[start:end]`),
            "type", "start" and "end" (characters, half-open; given words are joined by the
            preprocessor's separator) and "score", the mean over its words of the probability of the
            tag (softmax, or the CRF's marginal); "words" and "tags", lists of str, the words of a
            text being those of `kerazoo.preprocessing.text_words.words_of_texts`; and
            "illegal_moves" (int), how many I- went on with no entity of their type and are B- in
            "tags".
        """
        check_positive("batch_size", batch_size)
        tagger = WordTagger(self)
        return tagger.answers(tagged_columns(x), self.decoder(), batch_size)

    def decoder(self) -> TagDecoder:
        """Return what finds tags and entities."""
        return TagDecoder(self.tag_table, self.crf)

    def no_rows(self) -> np.ndarray:
        """Return what `predict` gives for no texts."""
        return np.zeros((0, 0, len(self.labels)), dtype="float32")

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (raw text) and `features` (ready token ids)."""
        return token_classifier_signatures(self)

    def export_to_transformers(self, path: str | Path) -> None:
        """Write a Hugging Face folder; see `Task`.

        Raises:
            ValueError: if the task has a CRF, which `BertForTokenClassification` has not.
        """
        if self.crf is not None:
            raise ValueError(
                "Hugging Face's BertForTokenClassification has no CRF. Received: crf=True"
            )
        super().export_to_transformers(path)

    # ---- saving --------------------------------------------------------------------------------

    @classmethod
    def merge_config(cls, saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return constructor arguments.

        A given `num_classes` drops the saved labels, and without a CRF no move is banned unless
        that is asked for.
        """
        merged = {**saved, **given}
        if not merged.get("crf") and "ban_illegal_moves" not in given:
            merged.pop("ban_illegal_moves", None)
        if "num_classes" in given and "labels" not in given:
            merged.pop("labels", None)
        elif "labels" in given:
            merged.pop("num_classes", None)
        return merged

    @classmethod
    def same_head(cls, saved: Mapping[str, Any], task: "Task") -> bool:
        """Return whether a head saved for `saved["labels"]` fits the task's labels and CRF."""
        same_labels = list(saved.get("labels") or []) == list(task.labels)
        same_crf = bool(saved.get("crf")) == (getattr(task, "crf", None) is not None)
        return bool(saved) and same_labels and same_crf

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "labels": self.labels,
            "crf": self.crf is not None,
            "ban_illegal_moves": self.ban_illegal_moves,
            "dropout": self.dropout,
            "freeze_backbone": self.freeze_backbone,
        }
