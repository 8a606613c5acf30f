"""Next-sentence prediction: whether the second text of a pair follows the first one."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras

from kerazoo.axes import NEXT_SENTENCE, TEXT, TEXT_PAIR
from kerazoo.checks import check_known_arguments
from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor
from kerazoo.tasks.text_classifier import TextClassifier

NEXT_SENTENCE_LABELS = ("next", "random")
"""Class 0, the text that follows, and class 1, one from elsewhere: Google's order."""


@keras.saving.register_keras_serializable(package="kerazoo")
class NextSentencePredictor(TextClassifier):
    """Softmax of a dense layer on the pooled `[CLS]` vector (Devlin et al. 2018, section 3.1).

    Class 0 is "next", as in Google's and Hugging Face's models. The head is that of pre-training:
    it is read from a `BertPretrainer`'s preset and from `BertForNextSentencePrediction`.

    Args:
        backbone: any encoder with a pooled or a sequence output.
        labels: two names, of class 0 (the text follows) and class 1 (it does not).
        preprocessor: a `TextClassifierPreprocessor`; None if `fit` gets ready inputs.
        dropout: float, dropout rate before the dense layer; the paper's model has none.
        freeze_backbone: bool, train the head only.
        lm_loss_weight: float, λ on a causal backbone, as for `TextClassifier`.
        **kwargs: `name`, `compile`.

    Outputs:
        (batch, 2) float32 logits.

    Raises:
        ValueError: if there are not two labels, or the preprocessor does not suit the backbone.

    Example:
        task = kerazoo.NextSentencePredictor.from_preset("path/to/bert")
        task.fit((["One.", "One."], ["Two.", "Blue."]), ["next", "random"])
        task.classify((["The door opened."], ["A man came in."]))
    """

    task_name = "next-sentence"
    preprocessor_cls = TextClassifierPreprocessor
    head_name = NEXT_SENTENCE
    has_fixed_head = True

    def __init__(
        self,
        backbone: keras.Model,
        labels: Sequence[str] = NEXT_SENTENCE_LABELS,
        preprocessor: TextClassifierPreprocessor | None = None,
        dropout: float = 0.0,
        freeze_backbone: bool = False,
        lm_loss_weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        if len(labels) != len(NEXT_SENTENCE_LABELS):
            raise ValueError(
                "Next-sentence prediction has two classes: the text follows, or it does not. "
                f"Received: labels={list(labels)}"
            )
        super().__init__(
            backbone,
            labels,
            preprocessor=preprocessor,
            dropout=dropout,
            freeze_backbone=freeze_backbone,
            pairs=True,
            lm_loss_weight=lm_loss_weight,
            **kwargs,
        )

    @classmethod
    def merge_config(cls, saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return constructor arguments: the saved ones, overruled by the given ones."""
        return {**saved, **given}

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return pairs in memory as columns; single texts are refused."""
        columns = super().raw_columns(x)
        if columns is not None and TEXT_PAIR not in columns:
            raise ValueError(
                "Next-sentence prediction reads two texts; pass pairs as (list_a, list_b) or "
                f'{{"{TEXT}": …, "{TEXT_PAIR}": …}}. Received: keys={sorted(columns)}'
            )
        return columns

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        config = super().get_config()
        for fixed in ("activation", "pairs", "pooling"):
            del config[fixed]
        return config
