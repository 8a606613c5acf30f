"""L = L_FT + λ L_PT: fine-tuning a causal model while it goes on modelling language."""

from typing import Any

import keras
from keras import ops

from kerazoo.axes import PADDING_MASK, SEQUENCE_OUTPUT, TOKEN_IDS, Tensor
from kerazoo.tasks.base import Task
from kerazoo.tasks.replicas import replica_count

LOGITS = "logits"
"""Key of the head's output where the model gives its states too."""

DEFAULT_LM_LOSS_WEIGHT = 0.5
"""The λ of Radford et al. 2018, section 4.1."""

_LM_LOSS = "lm_loss"


class AuxiliaryLMLoss(Task):
    """A task whose loss may have the language-modelling loss added (Radford et al. 2018, eq. 5).

    With λ > 0 the model gives a dict of "logits" and "sequence_output", and loss and metrics of
    `compile` see the logits alone. `predict` gives the plain outputs; the logits of the next
    tokens, (batch, seq, vocabulary), are computed in training and evaluation only. Both parts of
    the loss are reported, as `finetune_loss` and `lm_loss`. With λ = 0 nothing of this is there.

    Attributes:
        lm_loss_weight: float, λ; 0 is no auxiliary loss.
    """

    lm_loss_weight: float = 0.0
    _given_lm_loss_weight: float | None = None

    def set_lm_loss_weight(
        self, given: float | None, backbone: keras.Model, freeze_backbone: bool
    ) -> None:
        """Check λ and keep it; before the functional graph is made.

        Args:
            given: λ; None is `DEFAULT_LM_LOSS_WEIGHT` where the backbone is causal and trains, else
                0.
            backbone: the backbone.
            freeze_backbone: whether it does not train.

        Raises:
            ValueError: if λ is no number of at least 0, or above 0 with a backbone that is not
                causal or does not train.
        """
        self._given_lm_loss_weight = given
        self.lm_loss_weight = _checked_weight(given, backbone, freeze_backbone)

    def outputs_for_loss(self, logits: Tensor, states: Tensor) -> Any:
        """Return what the functional graph gives: logits, and the states if the loss reads them.

        Args:
            logits: the head's output.
            states: (…, seq, hidden), the backbone's states of all texts.
        """
        return {LOGITS: logits, SEQUENCE_OUTPUT: states} if self.lm_loss_weight else logits

    def make_loss_trackers(self) -> None:
        """Create the metrics of both parts; after the functional graph is made."""
        if self.lm_loss_weight:
            self.finetune_loss_tracker = keras.metrics.Mean(name="finetune_loss")
            self.lm_loss_tracker = keras.metrics.Mean(name="lm_loss")

    def plain_outputs(self, outputs: Any) -> Tensor:
        """Return what `predict` gives of the model's outputs."""
        return outputs[LOGITS] if self.lm_loss_weight else outputs

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """Return L_FT + λ L_PT; see `keras.Model.compute_loss`."""
        if not self.lm_loss_weight:
            return super().compute_loss(x, y, y_pred, sample_weight, training)
        finetune_loss = super().compute_loss(x, y, y_pred[LOGITS], sample_weight, training)
        lm_loss = next_token_loss(
            self.backbone,
            y_pred[SEQUENCE_OUTPUT],
            x[TOKEN_IDS],
            x[PADDING_MASK],
            sample_weight,
        )
        lm_loss = self.loss_term(_LM_LOSS, lm_loss)
        # Weighted as Keras weights the batches of `loss`, so that the parts add up to it.
        rows = self.rows_of_mean
        rows = ops.shape(x[TOKEN_IDS])[0] if rows is None else rows
        self.finetune_loss_tracker.update_state(finetune_loss * replica_count(), rows)
        self.lm_loss_tracker.update_state(lm_loss * replica_count(), rows)
        return finetune_loss + self.lm_loss_weight * lm_loss

    def loss_weights(self, x: Any, y: Any, sample_weight: Any = None) -> dict[str, Tensor]:
        """Return what the means of the loss are divided by; see `WholeBatch`."""
        weights = super().loss_weights(x, y, sample_weight)
        if not self.lm_loss_weight:
            return weights
        of_text = _weights_of_texts(_real_targets(x[PADDING_MASK]), x[TOKEN_IDS], sample_weight)
        return {**weights, _LM_LOSS: ops.sum(of_text)}

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Update the metrics of `compile` with the logits; see `keras.Model.compute_metrics`."""
        logits = y_pred[LOGITS] if self.lm_loss_weight else y_pred
        return super().compute_metrics(x, y, logits, sample_weight=sample_weight)

    def predict_step(self, *arguments: Any, **named: Any) -> Any:
        """Compute the plain outputs of a batch; on every backend `predict` calls this."""
        outputs = super().predict_step(*arguments, **named)
        if keras.config.backend() == "jax":
            outputs, state = outputs
            return self.plain_outputs(outputs), state
        return self.plain_outputs(outputs)

    def _not_of_the_head(self) -> list[Any]:
        trackers = [self.finetune_loss_tracker, self.lm_loss_tracker] if self.lm_loss_weight else []
        return [*super()._not_of_the_head(), *trackers]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "lm_loss_weight": self._given_lm_loss_weight}


def next_token_loss(
    backbone: Any,
    states: Tensor,
    token_ids: Tensor,
    padding_mask: Tensor,
    sample_weight: Tensor | None = None,
) -> Tensor:
    """Return the mean over texts of each text's mean cross-entropy over its real next tokens.

    The special tokens count; padding does not, and a text with fewer than two tokens has no weight.

    Args:
        backbone: a causal backbone with `next_token_logits`.
        states: (…, seq, hidden) float, its `sequence_output`.
        token_ids: (batch, seq) or (batch, texts, seq) int32.
        padding_mask: shaped as `token_ids`, 1 on real tokens.
        sample_weight: (batch,) float, a weight for all texts of a row; None is 1.

    Returns:
        () float32.
    """
    width = ops.shape(token_ids)[-1]
    states = ops.reshape(states, (-1, width, states.shape[-1]))
    targets = ops.reshape(token_ids, (-1, width))[:, 1:]
    is_target = _real_targets(padding_mask)
    logits = ops.cast(backbone.next_token_logits(states[:, :-1]), "float32")
    losses = keras.losses.sparse_categorical_crossentropy(targets, logits, from_logits=True)
    counts = ops.sum(is_target, axis=-1)
    mean_of_text = ops.sum(losses * is_target, axis=-1) / ops.maximum(counts, 1.0)
    weights = _weights_of_texts(is_target, token_ids, sample_weight)
    return ops.divide_no_nan(ops.sum(weights * mean_of_text), ops.sum(weights))


def _real_targets(padding_mask: Tensor) -> Tensor:
    """Return 1 where a text's next token is real, (texts of all rows, seq - 1) float32."""
    width = ops.shape(padding_mask)[-1]
    return ops.cast(ops.reshape(padding_mask, (-1, width))[:, 1:], "float32")


def _weights_of_texts(is_target: Tensor, token_ids: Tensor, sample_weight: Any) -> Tensor:
    """Return the weight of each text, (texts of all rows,) float32."""
    weights = ops.cast(ops.sum(is_target, axis=-1) > 0, "float32")
    if sample_weight is None:
        return weights
    rows = ops.shape(token_ids)[0]
    of_row = ops.reshape(ops.cast(sample_weight, "float32"), (rows, 1))
    texts = 1 if len(token_ids.shape) == 2 else ops.shape(token_ids)[1]
    return ops.reshape(ops.reshape(weights, (rows, texts)) * of_row, (-1,))


def _checked_weight(given: float | None, backbone: keras.Model, freeze_backbone: bool) -> float:
    is_causal = hasattr(backbone, "next_token_logits")
    if given is None:
        return DEFAULT_LM_LOSS_WEIGHT if is_causal and not freeze_backbone else 0.0
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not is_number or not 0 <= given < float("inf"):
        raise ValueError(
            f"`lm_loss_weight` must be a number of at least 0. Received: lm_loss_weight={given!r}"
        )
    if given and not is_causal:
        raise ValueError(
            "The auxiliary language-modelling loss needs a backbone that reads from left to right, "
            f"such as GPTBackbone; {type(backbone).__name__} does not. "
            f"Received: lm_loss_weight={given!r}"
        )
    if given and freeze_backbone:
        raise ValueError(
            "A frozen backbone cannot learn from the language-modelling loss; pass "
            f"lm_loss_weight=0 or freeze_backbone=False. Received: lm_loss_weight={given!r}"
        )
    return float(given)
