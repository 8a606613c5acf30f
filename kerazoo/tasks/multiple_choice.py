"""Multiple choice: which of several answers is right."""

from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np
import tensorflow as tf
from keras import ops

from kerazoo.axes import CHOICES, CONTEXT, PADDING_MASK, QUESTION, TOKEN_IDS
from kerazoo.layers.text_rows import MaskPadding, MergeTexts, SplitTexts
from kerazoo.preprocessing.choice_texts import real_choices
from kerazoo.preprocessing.multiple_choice import MultipleChoicePreprocessor
from kerazoo.tasks.choice_columns import choice_columns, choice_label_column, is_raw_choices
from kerazoo.tasks.fine_tuning_task import SERVED_MULTIPLE, FineTuningTask
from kerazoo.tasks.pooled_output import pooled_and_sequence_output
from kerazoo.tasks.serving_signature import ServingSignature


@keras.saving.register_keras_serializable(package="kerazoo")
class MultipleChoice(FineTuningTask, keras_nlp.models.Task):
    """One score for each choice, softmax over the choices of a question.

    GPT reads `<s> context $ question $ choice <e>` for each choice (Radford et al. 2018, section
    3.3), BERT `[CLS] context question [SEP] choice [SEP]`; the pooled vector of each goes through
    one dense layer with one output. Questions may have any number of choices, also within a batch.

    In memory `fit` takes {"context": [text, …], "question": [text, …], "choices": [[text, …], …]},
    context and question as there are, or a list of such dicts of one row each; the label is the
    index of the right choice. A `tf.data.Dataset` gives batches of such dicts, the choices dense
    (batch, choices), filled up with empty texts as `padded_batch` does, or ragged.

    Args:
        backbone: any encoder with a pooled or a sequence output.
        preprocessor: a `MultipleChoicePreprocessor`; None if `fit` gets ready inputs.
        dropout: float, dropout rate before the dense layer; None is the backbone's own. It drops
            the same components of all choices of a question.
        freeze_backbone: bool, train the head only; the backbone then runs without dropout.
        pooling: "pooled", the backbone's own vector, or "mean", the mean of all states.
        lm_loss_weight: float, λ, the weight of the language-modelling loss; None is 0.5 on a causal
            backbone that trains, else 0.
        **kwargs: `name`, `compile`.

    Inputs: `token_ids` and the like, each (batch, choices, seq) int32.

    Outputs:
        (batch, choices) float32 logits; the smallest float32 for a choice that is padding alone.
        With λ > 0 the model itself gives a dict of "logits" and "sequence_output".

    Raises:
        ValueError: if the preprocessor does not suit the backbone, or λ > 0 and the backbone is not
            causal or is frozen.

    Example:
        task = kerazoo.MultipleChoice.from_preset("path/to/gpt2")
        rows = {"context": ["It rained."], "choices": [["He was wet.", "He was dry."]]}
        task.fit(rows, [0])
        task.choose(rows)
    """

    task_name = "multiple-choice"
    preprocessor_cls = MultipleChoicePreprocessor

    def __init__(
        self,
        backbone: keras.Model,
        preprocessor: MultipleChoicePreprocessor | None = None,
        dropout: float | None = None,
        freeze_backbone: bool = False,
        pooling: str = "pooled",
        lm_loss_weight: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        self.make_head(
            backbone,
            preprocessor,
            units=1,
            dropout=dropout,
            activation=None,
            freeze_backbone=freeze_backbone,
            pooling=pooling,
            lm_loss_weight=lm_loss_weight,
            kwargs=kwargs,
            noise_shape=(None, 1, None),
        )
        inputs = {
            key: keras.Input((None, None), dtype=value.dtype, name=key)
            for key, value in backbone.input.items()
        }
        merged = {key: MergeTexts(name=f"merge_{key}")(value) for key, value in inputs.items()}
        pooled, states = pooled_and_sequence_output(backbone, merged, pooling)
        split = SplitTexts(dtype=backbone.dtype_policy, name="split_choices")
        pooled = self.dropout_layer(split(pooled, like=inputs[TOKEN_IDS]))
        scores = ops.squeeze(self.output_activation(self.classifier(pooled)), axis=-1)
        mask_padding = MaskPadding(name="mask_padding")
        logits = mask_padding(scores, padding_mask=inputs[PADDING_MASK])
        self.finish(inputs, logits, states, **kwargs)
        self.labels: list[str] = []
        self.pairs = False

    def choose(self, rows: Any, batch_size: int = 32) -> list[dict[str, Any]]:
        """Return the choice that is most likely right, of each question.

        Args:
            rows: questions, as for `fit`.
            batch_size: int, questions computed together.

        Returns:
            For each question a dict of "choice" (int, its index), "text" (str), "score" (float, its
            probability) and "scores" (list of float, the probabilities of all choices).
        """
        columns = choice_columns(rows)
        probabilities = self.probabilities(self.predict(columns, batch_size=batch_size, verbose=0))
        counts = np.sum(real_choices(columns[CHOICES]).numpy(), axis=1)
        texts = columns[CHOICES].numpy()
        answers = []
        for row, count, choices in zip(probabilities, counts, texts, strict=True):
            best = int(np.argmax(row[:count]))
            answers.append(
                {
                    "choice": best,
                    "text": choices[best].decode("utf-8", errors="replace"),
                    "score": float(row[best]),
                    "scores": [float(value) for value in row[:count]],
                }
            )
        return answers

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return questions in memory as columns; None if `x` is something else."""
        return choice_columns(x) if is_raw_choices(x) else None

    def no_rows(self) -> np.ndarray:
        """Return what `predict` gives for no questions."""
        return np.zeros((0, 0), dtype="float32")

    def export_to_transformers(self, path: str | Path) -> None:
        """Write a Hugging Face folder; see `Task`.

        Raises:
            ValueError: if the backbone is a GPT, or the task pools by the mean, which Hugging
                Face's classes do not.
        """
        if self.pooling != "pooled":
            raise ValueError(
                "Hugging Face's BertForMultipleChoice reads the pooled [CLS] vector only. "
                f"Received: pooling={self.pooling!r}"
            )
        super().export_to_transformers(path)

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (raw texts) and `features` (ready token ids).

        An empty context or question is none, and an empty choice fills a row up.
        """
        signatures = {}
        preprocessor = self.preprocessor
        if preprocessor is not None:

            def answer_texts(
                context: tf.Tensor, question: tf.Tensor, choices: tf.Tensor
            ) -> dict[str, tf.Tensor]:
                answer = self._answer(
                    preprocessor.pack_choices(context, question, choices, SERVED_MULTIPLE)
                )
                text = tf.gather(choices, answer["choice"], axis=1, batch_dims=1)
                text = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
                return {**answer, "text": text}

            example = np.array([b"A short text to warm up with."])
            signatures["serving_default"] = ServingSignature(
                answer_texts,
                (
                    tf.TensorSpec((None,), tf.string, name=CONTEXT),
                    tf.TensorSpec((None,), tf.string, name=QUESTION),
                    tf.TensorSpec((None, None), tf.string, name=CHOICES),
                ),
                {CONTEXT: example, QUESTION: example, CHOICES: np.array([[b"One.", b"Two."]])},
            )
        signatures["features"] = self.features_signature(self._answer, (None,))
        return signatures

    def _answer(self, features: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        probabilities = self.served_outputs(features)
        return {
            "choice": tf.argmax(probabilities, axis=-1, output_type=tf.int32),
            "score": tf.reduce_max(probabilities, axis=-1),
            "probabilities": probabilities,
        }

    def raw_targets(self, y: Any, columns: dict[str, Any]) -> Any:
        """Return the numbers of the right choices, each one of its row's."""
        return choice_label_column(y, columns[CHOICES])
