"""BERT's pre-training: masked words and next sentences, learnt together."""

from typing import Any

import keras
import keras_nlp
import tensorflow as tf

from kerazoo.axes import (
    MASK_POSITIONS,
    MASKED_LM,
    NEXT_SENTENCE,
    POOLED_OUTPUT,
    TEXT,
    TEXT_PAIR,
    Tensor,
)
from kerazoo.preprocessing.bert_pretrainer import BertPretrainerPreprocessor
from kerazoo.tasks.bert_pretrainer_signatures import bert_pretrainer_signatures
from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)
from kerazoo.tasks.masked_words_task import MaskedWordsTask, sequence_output
from kerazoo.tasks.next_sentence import NEXT_SENTENCE_LABELS
from kerazoo.tasks.pooled_output import train_pooler
from kerazoo.tasks.raw_inputs import label_column
from kerazoo.tasks.serving_signature import ServingSignature


@keras.saving.register_keras_serializable(package="kerazoo")
class BertPretrainer(MaskedWordsTask, keras_nlp.models.MaskedLM):
    """Both heads of Devlin et al. 2018, section 3.1: masked tokens, and next sentence.

    The loss is the sum of two means, each Σ w l / Σ w: the cross-entropy over masked tokens and
    that over pairs. Both are reported, with their accuracies, as `masked_lm_loss`,
    `masked_lm_accuracy`, `next_sentence_loss` and `next_sentence_accuracy`.

    Args:
        backbone: a `BertBackbone`, or another encoder with a reversible `token_embedding` and a
            pooled output.
        preprocessor: a `BertPretrainerPreprocessor`; None if `fit` gets ready inputs, such as those
            of `kerazoo prepare`.
        **kwargs: `name`, `compile`.

    Inputs: the backbone's, and `mask_positions`, (batch, masks) int32.

    Outputs, a dict: `masked_lm` (batch, masks, vocabulary) and `next_sentence` (batch, 2), float32
    logits. Targets and sample weights of ready inputs are dicts with these keys.

    Raises:
        ValueError: if the backbone reads from left to right or gives no pooled vector, or the
            preprocessor does not suit it.

    Example:
        task = kerazoo.BertPretrainer.from_preset("path/to/bert")
        task.fit((["One."], ["Two."]), [0])
        task.fill_mask("One, [MASK], three.")
    """

    task_name = "bert-pretraining"
    preprocessor_cls = BertPretrainerPreprocessor
    needs_labels = True

    def __init__(
        self,
        backbone: keras.Model,
        preprocessor: BertPretrainerPreprocessor | None = None,
        **kwargs: Any,
    ) -> None:
        """Create both heads, then the functional graph."""
        inputs = self.make_masked_lm(backbone, preprocessor, kwargs)
        states, outputs = sequence_output(backbone, inputs)
        if not isinstance(outputs, dict) or POOLED_OUTPUT not in outputs:
            raise ValueError(
                "Next-sentence prediction reads the pooled [CLS] vector, which this backbone does "
                f"not give; use MaskedLM. Received: backbone={type(backbone).__name__}"
            )
        train_pooler(backbone, is_read=True)
        self.next_sentence_head = keras.layers.Dense(
            len(NEXT_SENTENCE_LABELS),
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            dtype=backbone.dtype_policy,
            name=NEXT_SENTENCE,
        )
        # In float32 under every policy, so that softmax and loss are exact.
        self.output_activation = keras.layers.Activation("linear", dtype="float32", name="logits")
        super().__init__(
            inputs=inputs,
            outputs={
                MASKED_LM: self.masked_lm_head(states, inputs[MASK_POSITIONS]),
                NEXT_SENTENCE: self.next_sentence_logits(outputs[POOLED_OUTPUT]),
            },
            **kwargs,
        )

    def compile(
        self,
        optimizer: Any = "auto",
        loss: Any = "auto",
        *,
        weighted_metrics: Any = "auto",
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Set losses, optimizer and metrics; each has a default.

        Args:
            optimizer: "auto" is Adam with a learning rate of 5e-5.
            loss: "auto" is for both outputs sparse categorical cross-entropy, Σ w l / Σ w.
            weighted_metrics: "auto" is the accuracy of both outputs.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow.
            **kwargs: further arguments of `keras.Model.compile`.
        """
        outputs = (MASKED_LM, NEXT_SENTENCE)
        if loss == "auto":
            loss = {key: weighted_cross_entropy() for key in outputs}
        if weighted_metrics == "auto":
            weighted_metrics = {
                key: [keras.metrics.SparseCategoricalAccuracy(name="accuracy")] for key in outputs
            }
        super().compile(
            optimizer=default_optimizer(optimizer),
            loss=loss,
            weighted_metrics=weighted_metrics,
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    def next_sentence_logits(self, pooled: Tensor) -> Tensor:
        """Return the logits of pooled vectors, (batch, hidden), as (batch, 2) float32."""
        return self.output_activation(self.next_sentence_head(pooled))

    def masked_lm_logits(self, outputs: Any) -> Any:
        """Return the logits at the masks, (batch, masks, vocabulary), of the model's outputs."""
        return outputs[MASKED_LM]

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return pairs in memory as columns; single texts are refused."""
        columns = super().raw_columns(x)
        if columns is not None and TEXT_PAIR not in columns:
            raise ValueError(
                "Pre-training with next sentences reads pairs, as (list_a, list_b) or "
                f'{{"{TEXT}": …, "{TEXT_PAIR}": …}}; MaskedLM reads single texts. '
                f"Received: keys={sorted(columns)}"
            )
        return columns

    def raw_labels(self, y: Any, rows: int) -> tf.Tensor:
        """Return whether each second text follows, (rows,) int32: 0 or "next", 1 or "random"."""
        return label_column(y, NEXT_SENTENCE_LABELS, rows)

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return those of `MaskedLM`, and `next_sentence` (pairs of texts)."""
        return bert_pretrainer_signatures(self)
