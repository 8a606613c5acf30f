"""The settings of a fine-tuning run. Importing this imports no framework."""

import dataclasses

from kerazoo.checks import check_one_of, check_positive, check_rate
from kerazoo.data.prepare_settings import MASKINGS
from kerazoo.data.tag_schemes import BIO, TAG_SCHEMES
from kerazoo.optimizers.on_non_finite import ON_NON_FINITE, STOP
from kerazoo.tasks.crf_arguments import check_crf_arguments
from kerazoo.training.settings import PRECISIONS, Settings

CLASS_WEIGHTS = ("balanced",)
POOLINGS = ("pooled", "mean")
_MASKING = frozenset({"masking", "segmented", "mask_selection_rate"})
_NO_CLASSES = frozenset(
    {"class_weight", "pooling", "regression", "lm_loss_weight", "freeze_backbone"}
)
_WINDOWS = frozenset({"stride", "strict"})
_TAGS = frozenset({"tag_scheme", "crf", "ban_illegal_moves", "label_all_pieces"})
UNUSED_SETTINGS: dict[str, frozenset[str]] = {
    "text-classification": frozenset({"regression"}) | _MASKING | _WINDOWS | _TAGS,
    "text-similarity": frozenset({"class_weight", "pooling"}) | _MASKING | _WINDOWS | _TAGS,
    "multiple-choice": frozenset({"class_weight", "pooling", "regression"})
    | _MASKING
    | _WINDOWS
    | _TAGS,
    "extractive-qa": frozenset({"class_weight", "pooling", "regression", "lm_loss_weight"})
    | _MASKING
    | _TAGS,
    "token-classification": frozenset({"pooling", "regression", "lm_loss_weight"}) | _MASKING,
    "masked-lm": _NO_CLASSES | _WINDOWS | _TAGS,
    "next-sentence": frozenset({"pooling", "regression"}) | _MASKING | _WINDOWS | _TAGS,
    "bert-pretraining": _NO_CLASSES | _WINDOWS | _TAGS,
    "causal-lm": _NO_CLASSES | _MASKING | _WINDOWS | _TAGS | {"bucket_width"},
}
"""For each task the settings that mean nothing to it."""


@dataclasses.dataclass(frozen=True)
class FinetuneConfig(Settings):
    """Every setting of a fine-tuning run; the defaults stand here and nowhere else.

    Args:
        epochs: int, passes over the training rows.
        batch_size: int, rows of one step, on all devices together.
        accumulate: int, parts of a batch that are computed one after the other, each in the memory
            of one; the step is that of the whole batch.
        rematerialize: bool, compute the inside of the backbone's blocks twice, to keep less in
            memory.
        learning_rate: float, the highest rate of the schedule; None is 5e-5 where the whole model
            trains (Devlin et al. 2018, appendix A.3), 5e-4 with LoRA, 1e-3 where only the head
            trains.
        sequence_length: int, tokens of a row, special tokens included; longer texts are
            truncated. None is 256, or the checkpoint's own limit if that is lower.
        bucket_width: int, make batches of rows of similar length, and pad them to a multiple of
            so many tokens; a compiling backend compiles each multiple once. None mixes all lengths.
        precision: "float32" or "mixed_bfloat16".
        weight_decay: float, decoupled weight decay (Loshchilov & Hutter 2017); biases and layer
            norms are left out.
        warmup: float, how long the rate rises: a share of all steps if below 1, else steps.
        clip_norm: float, the longest gradient over all weights together; 0 is no limit.
        pooling: "pooled", the backbone's own vector ([CLS] for BERT), or "mean", the mean of all
            states, for sentence encoders such as MiniLM. None is what the checkpoint's task had,
            else "pooled".
        freeze_backbone: bool, train the head alone.
        lora_rank: int, rank of LoRA updates (Hu et al. 2021); 0 trains the weights themselves.
        lm_loss_weight: float, λ of the language model loss beside that of the task (Radford et al.
            2018, equation 5), on GPT; None is 0.5 there, and 0 is none.
        regression: bool, learn `label` as a score; None does so if a label has a fraction.
        class_weight: "balanced" weighs each row by rows / (labels * rows of its label); None
            weighs all rows alike.
        masking: "token", "whole_word" or "ngram": where masks are; None is as the checkpoint's task
            had it, else "token".
        segmented: bool, whether spaces set all words of the texts apart, as a segmenter for
            Chinese writes them; None is as the checkpoint's task had it, else false.
        mask_selection_rate: float, share of a row's tokens that are chosen; None is as the
            checkpoint's task had it, else 0.15.
        stride: int, how many tokens after a window of a long text the next one begins; None is the
            task's own choice.
        strict: bool, whether a bad row is an error; else it is left out and counted.
        tag_scheme: "bio", "iob1" or "bioes": how the files mark entities.
        crf: bool, score whole sequences of tags; None is as the checkpoint's task had it, else
            false.
        ban_illegal_moves: bool, let the CRF give no I- that goes on with no entity of its type;
            None is as the checkpoint's task had it, else false.
        label_all_pieces: bool, train all tokens of a word; None is as the checkpoint's task had it,
            else false: the first one alone.
        validation_fraction: float, share of the training rows that is held out if there is no
            validation file.
        checkpoint_every: int, steps between two checkpoints; 0 writes none but at a signal.
        keep_checkpoints: int, so many of the last ones stay, and the best.
        on_non_finite: what a step does whose gradient is not finite: "stop" ends the run, "skip"
            leaves the step out.
        seed: int, seed of the new weights, the order of the rows, dropout and the split.

    Raises:
        ValueError: if a value is out of range or two of them do not fit together.
    """

    epochs: int = 3
    batch_size: int = 32
    accumulate: int = 1
    rematerialize: bool = False
    learning_rate: float | None = None
    sequence_length: int | None = None
    bucket_width: int | None = None
    precision: str = "float32"
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip_norm: float = 1.0
    pooling: str | None = None
    freeze_backbone: bool = False
    lora_rank: int = 0
    lm_loss_weight: float | None = None
    regression: bool | None = None
    class_weight: str | None = None
    masking: str | None = None
    segmented: bool | None = None
    mask_selection_rate: float | None = None
    stride: int | None = None
    strict: bool = False
    tag_scheme: str = BIO
    crf: bool | None = None
    ban_illegal_moves: bool | None = None
    label_all_pieces: bool | None = None
    validation_fraction: float = 0.1
    checkpoint_every: int = 500
    keep_checkpoints: int = 2
    on_non_finite: str = STOP
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        for name in ("epochs", "validation_fraction", "keep_checkpoints"):
            check_positive(name, getattr(self, name))
        self.check_batch_size()
        optional = ("learning_rate", "sequence_length", "bucket_width")
        for name in (*optional, "mask_selection_rate", "stride"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        not_negative = ("lm_loss_weight", "weight_decay", "warmup", "clip_norm", "lora_rank")
        for name in (*not_negative, "checkpoint_every", "seed"):
            self.check_not_negative(name)
        check_rate("validation_fraction", self.validation_fraction)
        check_one_of("precision", self.precision, PRECISIONS)
        check_one_of("on_non_finite", self.on_non_finite, ON_NON_FINITE)
        check_one_of("tag_scheme", self.tag_scheme, TAG_SCHEMES)
        self._check_windows_and_crf()
        if self.pooling is not None:
            check_one_of("pooling", self.pooling, POOLINGS)
        if self.masking is not None:
            check_one_of("masking", self.masking, MASKINGS)
        if self.mask_selection_rate is not None:
            check_rate("mask_selection_rate", self.mask_selection_rate)
        if self.class_weight is not None:
            check_one_of("class_weight", self.class_weight, CLASS_WEIGHTS)
        if self.freeze_backbone and self.lora_rank:
            raise ValueError(
                "`freeze_backbone` and `lora_rank` exclude each other: LoRA trains small updates "
                f"of the backbone. Received: freeze_backbone=True, lora_rank={self.lora_rank}"
            )

    def _check_windows_and_crf(self) -> None:
        """Raise ValueError if settings exclude each other whatever the checkpoint is."""
        if self.crf is not None:
            ban, all_pieces = bool(self.ban_illegal_moves), bool(self.label_all_pieces)
            check_crf_arguments(self.crf, ban, all_pieces)
        length, stride = self.sequence_length, self.stride
        if length is not None and stride is not None and stride > length:
            raise ValueError(
                "Windows that begin further apart than a row is long leave gaps between them that "
                "no window reads; make the stride smaller. "
                f"Received: stride={stride}, sequence_length={length}"
            )

    @property
    def peak_learning_rate(self) -> float:
        """The highest rate of the schedule, chosen by what trains if it was not given."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.freeze_backbone:
            return 1e-3
        return 5e-4 if self.lora_rank else 5e-5

    def row_length(self, limit: int) -> int:
        """Return the tokens of a row for a checkpoint that reads at most `limit`.

        Raises:
            ValueError: if `sequence_length` is more than that.
        """
        if self.sequence_length is None:
            return min(256, limit)
        if self.sequence_length > limit:
            raise ValueError(
                f"The checkpoint reads at most {limit} tokens of a text. "
                f"Received: sequence_length={self.sequence_length}"
            )
        return self.sequence_length
