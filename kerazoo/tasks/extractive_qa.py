"""Extractive question answering: which part of a passage answers a question."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import keras
import keras_nlp
import numpy as np

from kerazoo.axes import (
    ANSWER_MASK,
    CONTEXT,
    END_LOGITS,
    QUESTION,
    START_LOGITS,
)
from kerazoo.checks import check_known_arguments, check_positive
from kerazoo.layers.span_head import SpanHead
from kerazoo.preprocessing.extractive_qa import ExtractiveQAPreprocessor
from kerazoo.tasks.base import Task
from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)
from kerazoo.tasks.extractive_qa_signatures import SERVED_TOP_K, extractive_qa_signatures
from kerazoo.tasks.packed_windows import PackedWindows
from kerazoo.tasks.passage_reader import PassageReader
from kerazoo.tasks.pooled_output import pooled_and_sequence_output, train_pooler
from kerazoo.tasks.preprocessor_checks import check_preprocessor
from kerazoo.tasks.question_columns import answer_columns, is_raw_questions, question_columns
from kerazoo.tasks.question_windows import (
    QuestionWindows,
    check_question_lengths,
    question_windows,
)
from kerazoo.tasks.serving_signature import ServingSignature
from kerazoo.tasks.span_decoder import SpanDecoder
from kerazoo.tasks.windowed_training import WindowedTraining

_OUTPUTS = (START_LOGITS, END_LOGITS)


@keras.saving.register_keras_serializable(package="kerazoo")
class ExtractiveQA(WindowedTraining, keras_nlp.models.Task):
    """Finds the slice of a passage that answers a question, or says that there is none.

    One dense layer gives each token a score as the first and one as the last of the answer (Devlin
    et al. 2018, section 4.2); softmax over the passage and the token for "no answer" ([CLS]), the
    loss is (l_start + l_end) / 2. Long passages are read in overlapping windows, in training and
    in answering, and a window without the answer points to "no answer".

    Args:
        backbone: any encoder that outputs a sequence of states.
        preprocessor: an `ExtractiveQAPreprocessor`; None if `fit` gets ready inputs.
        no_answer_threshold: float, by how much the score of "no answer" must be above that of the
            best span for the answer to be ""; None always answers with a span. `fit` on rows of
            which some have no answer sets 0.
        max_answer_length: int, the most tokens of an answer.
        freeze_backbone: bool, train the head only; the backbone then runs without dropout.
        **kwargs: `name`, `compile`.

    `fit` takes questions as {"question": [text, …], "context": [text, …]}, a list of dicts of one
    row each, a `QuestionWindows`, or a `tf.data.Dataset` of batches of such dicts; and answers as
    {"answer": [text, …], "answer_start": [int, …]} in characters, "" and -1 for no answer, or a
    list of `(answer, answer_start)` or None. There are no classes to weigh.

    Inputs: the backbone's, and `answer_mask`, (batch, seq) int32.

    Outputs:
        dict of `start_logits` and `end_logits`, each (batch, seq) float32.

    Raises:
        ValueError: if the preprocessor does not suit the backbone.

    Example:
        task = kerazoo.ExtractiveQA.from_preset("path/to/bert")
        rows = {"question": ["Who came?"], "context": ["On Monday Ada came."]}
        task.fit(rows, [("Ada", 10)])
        task.answer("Who came?", "On Monday Ada came.")["answer"]
    """

    task_name = "extractive-qa"
    rows_to_learn_from = "questions with answers"
    preprocessor_cls = ExtractiveQAPreprocessor
    preprocessor_arguments: ClassVar[tuple[str, ...]] = (*Task.preprocessor_arguments, "stride")
    needs_task_tokens: ClassVar[bool] = True
    has_fixed_head: ClassVar[bool] = True

    def __init__(
        self,
        backbone: keras.Model,
        preprocessor: ExtractiveQAPreprocessor | None = None,
        no_answer_threshold: float | None = None,
        max_answer_length: int = 30,
        freeze_backbone: bool = False,
        **kwargs: Any,
    ) -> None:
        """Create the head, then the functional graph."""
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        check_positive("max_answer_length", max_answer_length)
        if preprocessor is not None:
            check_preprocessor(preprocessor, backbone)
            # A causal model has seen nothing yet at the first token.
            preprocessor.null_at_end = hasattr(backbone, "next_token_logits")
        self.backbone = backbone
        self.preprocessor = preprocessor
        mask = keras.Input((None,), dtype="int32", name=ANSWER_MASK)
        inputs = {**backbone.input, ANSWER_MASK: mask}
        _, states = pooled_and_sequence_output(backbone, backbone.input)
        self.span_head = SpanHead(
            states.shape[-1],
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            dtype=backbone.dtype_policy,
            name="span_head",
        )
        super().__init__(inputs=inputs, outputs=self.span_head(states, mask), **kwargs)
        self.no_answer_threshold = no_answer_threshold
        self.max_answer_length = max_answer_length
        self.freeze_backbone = freeze_backbone
        self.labels: list[str] = []
        self.pairs = False
        if freeze_backbone:
            backbone.trainable = False

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
            loss: "auto" is the mean of the sparse categorical cross-entropies of start and end,
                each Σ w l / Σ w.
            weighted_metrics: "auto" is the accuracy of both outputs.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch and False on TensorFlow.
            **kwargs: further arguments of `keras.Model.compile`.
        """
        train_pooler(self.backbone, is_read=False)
        if loss == "auto":
            loss = {key: weighted_cross_entropy() for key in _OUTPUTS}
            kwargs.setdefault("loss_weights", dict.fromkeys(_OUTPUTS, 0.5))
        if weighted_metrics == "auto":
            weighted_metrics = {
                key: [keras.metrics.SparseCategoricalAccuracy(name="accuracy")] for key in _OUTPUTS
            }
        super().compile(
            optimizer=default_optimizer(optimizer),
            loss=loss,
            weighted_metrics=weighted_metrics,
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    # ---- training ------------------------------------------------------------------------------

    def is_raw(self, x: Any) -> bool:
        """Return whether `x` is questions in memory."""
        return is_raw_questions(x)

    def read_columns(self, x: Any) -> dict[str, Any]:
        """Return questions in memory as columns."""
        return question_columns(x)

    def raw_targets(self, y: Any, columns: dict[str, Any]) -> dict[str, Any]:
        """Return answers as columns; each must be a slice of its passage."""
        return answer_columns(y, columns[CONTEXT])

    def pack(
        self, columns: dict[str, Any], targets: Any = None, sample_weight: Any = None
    ) -> QuestionWindows:
        """Return the windows of questions."""
        return question_windows(self.preprocessor, columns, targets, sample_weight)

    def fit_windows(self, windows: PackedWindows, class_weight: Any) -> PackedWindows:
        """Let the task say that there is no answer if it learns from questions without one."""
        has_unanswered = isinstance(windows, QuestionWindows) and windows.unanswered > 0
        if has_unanswered and self.no_answer_threshold is None:
            self.no_answer_threshold = 0.0
        return windows

    def class_numbers(self, class_weight: Mapping[Any, float]) -> dict[int, float]:
        """Refuse weights of classes, as there are none."""
        raise ValueError(
            "There are no classes to weigh; weigh questions with `sample_weight`. "
            f"Received: class_weight={class_weight!r}"
        )

    # ---- answers -------------------------------------------------------------------------------

    def answer(
        self,
        questions: Any,
        contexts: str | Sequence[str] | None = None,
        top_k: int = SERVED_TOP_K,
        batch_size: int = 32,
        no_answer_threshold: float | None = None,
        max_answer_length: int | None = None,
    ) -> Any:
        """Answer questions about passages.

        Args:
            questions: a question or a list of questions; or questions with contexts as for `fit`.
            contexts: the passage of each question; one text is the passage of all of them.
            top_k: int, entries of the list of best answers, at most 20.
            batch_size: int, windows computed together.
            no_answer_threshold: float; None is the task's.
            max_answer_length: int, tokens; None is the task's.

        Returns:
            For each question a dict of "answer" (str, `context[start:end]`, "" for no answer),
            "start" and "end" (int, characters, half-open), "score" (float, its probability),
            "no_answer_score" (float, the score of "no answer" less that of the best span) and
            "n_best", a list of dicts of "answer", "start", "end", "score". For one question that
            dict alone.

        Raises:
            ValueError: if a question leaves no room for its passage; the message names its row.
        """
        check_positive("batch_size", batch_size)
        is_single = isinstance(questions, str)
        columns = question_columns(_with_contexts(questions, contexts))
        decoder = self.decoder(no_answer_threshold, max_answer_length)
        decoder.check_top_k(top_k)
        reader = PassageReader(self)
        check_question_lengths(self.preprocessor, columns[QUESTION])
        answers = reader.answers(columns, decoder, top_k, batch_size)
        return answers[0] if is_single else answers

    def decoder(
        self, no_answer_threshold: float | None = None, max_answer_length: int | None = None
    ) -> SpanDecoder:
        """Return what finds the best spans.

        Args:
            no_answer_threshold: float; None is the task's.
            max_answer_length: int; None is the task's.
        """
        if no_answer_threshold is None:
            no_answer_threshold = self.no_answer_threshold
        return SpanDecoder(
            no_answer_threshold=no_answer_threshold,
            max_answer_length=max_answer_length or self.max_answer_length,
        )

    def no_rows(self) -> Any:
        """Return what `predict` gives for no questions."""
        return {key: np.zeros((0, 0), dtype="float32") for key in _OUTPUTS}

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (question and passage) and `features` (ready token ids)."""
        return extractive_qa_signatures(self)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "no_answer_threshold": self.no_answer_threshold,
            "max_answer_length": self.max_answer_length,
            "freeze_backbone": self.freeze_backbone,
        }


def _with_contexts(questions: Any, contexts: Any) -> Any:
    """Return questions and contexts together."""
    if contexts is None:
        keys = (QUESTION, CONTEXT)
        if isinstance(questions, Mapping):
            return {key: questions[key] for key in keys if key in questions}
        return questions
    if isinstance(questions, str):
        questions = [questions]
    if isinstance(contexts, str) and isinstance(questions, Iterable):
        questions = list(questions)
        contexts = [contexts] * len(questions)
    return {QUESTION: questions, CONTEXT: contexts}
