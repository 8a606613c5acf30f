"""The settings of a pre-training run. Importing this imports no framework."""

import dataclasses
import math

from kerazoo.checks import check_one_of, check_positive, check_rate
from kerazoo.data.objectives import OBJECTIVES
from kerazoo.data.prepare_settings import MASKINGS, PACKINGS, SEGMENTERS
from kerazoo.optimizers.on_non_finite import ON_NON_FINITE, STOP
from kerazoo.training.settings import PRECISIONS, Settings

NGRAM_UNITS = ("word", "token")


@dataclasses.dataclass(frozen=True)
class PretrainConfig(Settings):
    """Every setting of a pre-training run; the defaults stand here and nowhere else.

    Args:
        steps: int, batches to train on; None is `epochs`.
        epochs: float, passes over the training rows; None is 1 unless `steps` is given.
        batch_size: int, rows of one step, on all devices together.
        accumulate: int, parts of a batch that are computed one after the other, each in the memory
            of one; the step is that of the whole batch.
        rematerialize: bool, compute the inside of the backbone's blocks twice, to keep less in
            memory.
        bucket_width: int, make batches of rows of similar length, and pad them to a multiple of so
            many tokens; a compiling backend compiles each multiple once. None mixes all lengths.
        learning_rate: float, the highest rate of the schedule (Devlin et al. 2018, appendix A.2).
        weight_decay: float, decoupled weight decay (Loshchilov & Hutter 2017); biases and layer
            norms are left out.
        warmup: float, how long the rate rises: a share of all steps if below 1, else steps.
        clip_norm: float, the longest gradient over all weights together; 0 is no limit.
        precision: "float32" or "mixed_bfloat16".
        masking: "token", "whole_word" or "ngram": where masks are; None is "token". Shards with
            static masks have theirs.
        mask_selection_rate: float, share of a row's tokens that are chosen; None is 0.15. Shards
            with static masks have theirs.
        mask_selection_length: int, the most masks of a row; None is the rate of a full row.
        mask_token_rate: float, share of the chosen tokens that become [MASK].
        random_token_rate: float, share that become a random token; the rest stays.
        ngram_unit: "word", or "token" for n-grams of pieces.
        replace_per_word: bool, draw once for all pieces of a word what becomes of them.
        objective: "bert", "bert-mlm" or "gpt", for raw text; None is "bert-mlm" or "gpt" as the
            model reads. Shards have theirs.
        sequence_length: int, tokens of a row, for raw text; None is 128, or what the model reads if
            that is less. Shards have theirs.
        segmenter: "none", "jieba" or "ltp": how raw Chinese text is cut into words to mask; None
            makes every Han character a word. Shards have theirs.
        packing: "documents" or "lines", for raw text: each of them is a text of its own, several of
            which stand in a row and do not see each other; None joins them. Shards have theirs.
        max_sequence_length: int, positions of a new model; None is the length of the rows, as
            positions beyond it would stay untrained.
        validation_fraction: float, share of the rows that is held out if there is no validation
            data; 0 holds none out.
        validation_rows: int, the most rows that an evaluation reads.
        evaluate_every: int, steps between two evaluations.
        checkpoint_every: int, steps between two checkpoints; 0 writes none but at a signal.
        keep_checkpoints: int, so many of the last ones stay, and the best.
        on_non_finite: what a step does whose gradient is not finite: "stop" ends the run, "skip"
            leaves the step out.
        seed: int, seed of the new weights, the order of the rows, masks and dropout.

    Raises:
        ValueError: if a value is out of range or two of them do not fit together.
    """

    steps: int | None = None
    epochs: float | None = None
    batch_size: int = 64
    accumulate: int = 1
    rematerialize: bool = False
    bucket_width: int | None = None
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip_norm: float = 1.0
    precision: str = "float32"
    masking: str | None = None
    mask_selection_rate: float | None = None
    mask_selection_length: int | None = None
    mask_token_rate: float = 0.8
    random_token_rate: float = 0.1
    ngram_unit: str = "word"
    replace_per_word: bool = False
    objective: str | None = None
    sequence_length: int | None = None
    segmenter: str | None = None
    packing: str | None = None
    max_sequence_length: int | None = None
    validation_fraction: float = 0.05
    validation_rows: int = 4096
    evaluate_every: int = 1000
    checkpoint_every: int = 500
    keep_checkpoints: int = 2
    on_non_finite: str = STOP
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        self._check_numbers()
        check_one_of("precision", self.precision, PRECISIONS)
        check_one_of("on_non_finite", self.on_non_finite, ON_NON_FINITE)
        if self.masking is not None:
            check_one_of("masking", self.masking, MASKINGS)
        check_one_of("ngram_unit", self.ngram_unit, NGRAM_UNITS)
        if self.objective is not None:
            check_one_of("objective", self.objective, OBJECTIVES)
        if self.segmenter is not None:
            check_one_of("segmenter", self.segmenter, SEGMENTERS)
        if self.packing is not None:
            check_one_of("packing", self.packing, PACKINGS)
        if self.steps is not None and self.epochs is not None:
            raise ValueError(
                "`steps` and `epochs` both say how long to train; give one of them. "
                f"Received: steps={self.steps!r}, epochs={self.epochs!r}"
            )
        if self.mask_token_rate + self.random_token_rate > 1 + 1e-9:
            raise ValueError(
                "`mask_token_rate` and `random_token_rate` must sum to at most 1. "
                f"Received: mask_token_rate={self.mask_token_rate!r}, "
                f"random_token_rate={self.random_token_rate!r}"
            )

    def total_steps(self, rows: int) -> int:
        """Return the steps of the whole run.

        Args:
            rows: int, rows of one epoch.

        Raises:
            ValueError: if a batch is larger than that.
        """
        if self.batch_size > rows:
            raise ValueError(
                f"A batch holds more rows than there are to train on, {rows:,}; choose a smaller "
                f"one, or give more text. Received: batch_size={self.batch_size}"
            )
        if self.steps is not None:
            return self.steps
        return max(1, math.ceil((self.epochs or 1) * rows / self.batch_size))

    def _check_numbers(self) -> None:
        """Check the ranges."""
        self.check_batch_size()
        positive = ("learning_rate", "validation_rows", "evaluate_every")
        for name in (*positive, "keep_checkpoints"):
            check_positive(name, getattr(self, name))
        optional = ("steps", "epochs", "sequence_length", "max_sequence_length")
        for name in (*optional, "mask_selection_length", "bucket_width"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        not_negative = ("mask_token_rate", "random_token_rate", "checkpoint_every", "seed")
        for name in ("weight_decay", "warmup", "clip_norm", *not_negative):
            self.check_not_negative(name)
        check_rate("validation_fraction", self.validation_fraction)
        if self.mask_selection_rate is not None:
            check_rate("mask_selection_rate", self.mask_selection_rate)
