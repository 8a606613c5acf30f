"""Masked language modelling: which tokens stood where some of a text are masked."""

from typing import Any

import keras
import keras_nlp

from kerazoo.axes import MASK_POSITIONS
from kerazoo.metrics.perplexity import Perplexity
from kerazoo.preprocessing.masked_lm import MaskedLMPreprocessor
from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)
from kerazoo.tasks.masked_lm_signatures import masked_lm_signatures
from kerazoo.tasks.masked_words_task import MaskedWordsTask, sequence_output
from kerazoo.tasks.pooled_output import train_pooler
from kerazoo.tasks.serving_signature import ServingSignature
from kerazoo.without_autograph import without_autograph


@keras.saving.register_keras_serializable(package="kerazoo")
class MaskedLM(MaskedWordsTask, keras_nlp.models.MaskedLM):
    """Predicts masked tokens from both sides (Devlin et al. 2018, section 3.1).

    Only the chosen positions go through the head: dense, activation, layer norm, then the token
    embedding as output matrix, and a bias. The loss is the mean cross-entropy over masked tokens,
    Σ w l / Σ w, with weight 0 on unused slots.

    Args:
        backbone: a `BertBackbone`, or a KerasHub encoder with a reversible `token_embedding`.
        preprocessor: a `MaskedLMPreprocessor`; None if `fit` gets ready inputs, with `mask_ids` as
            targets and `mask_weights` as sample weights.
        **kwargs: `name`, `compile`.

    Inputs: the backbone's, and `mask_positions`, (batch, masks) int32.

    Outputs:
        (batch, masks, vocabulary) float32 logits.

    Raises:
        ValueError: if the backbone reads from left to right, or the preprocessor does not suit it.

    Example:
        task = kerazoo.MaskedLM.from_preset("path/to/bert")
        task.fill_mask("The capital is [MASK].", top_k=3)
        task.fit(["a text", "another text"], epochs=1)
    """

    task_name = "masked-lm"
    preprocessor_cls = MaskedLMPreprocessor

    def __init__(
        self,
        backbone: keras.Model,
        preprocessor: MaskedLMPreprocessor | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        inputs = self.make_masked_lm(backbone, preprocessor, kwargs)
        states, _ = sequence_output(backbone, inputs)
        logits = self.masked_lm_head(states, inputs[MASK_POSITIONS])
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

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
            loss: "auto" is sparse categorical cross-entropy over masked tokens, Σ w l / Σ w.
            weighted_metrics: "auto" is accuracy and perplexity over masked tokens.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow.
            **kwargs: further arguments of `keras.Model.compile`.
        """
        train_pooler(self.backbone, is_read=False)
        if loss == "auto":
            loss = weighted_cross_entropy()
        if weighted_metrics == "auto":
            weighted_metrics = [
                keras.metrics.SparseCategoricalAccuracy(name="accuracy"),
                Perplexity(),
            ]
        super().compile(
            optimizer=default_optimizer(optimizer),
            loss=loss,
            weighted_metrics=weighted_metrics,
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    @without_autograph
    def preprocess_samples(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Mask a batch and keep the features that the model takes."""
        if self.preprocessor is not None and sample_weight is not None:
            # Weights of texts in memory stand behind a label that means nothing; see `batched`.
            y = None
        return super().preprocess_samples(x, y, sample_weight)

    def raw_labels(self, y: Any, rows: int) -> Any:
        """Raise ValueError: what was masked is the target."""
        raise ValueError(
            "A masked language model learns from texts alone; what was masked is its target. "
            f"Pass no `y`. Received: y of {type(y).__name__}"
        )

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (texts with masks) and `features` (ready token ids)."""
        return masked_lm_signatures(self)
