"""What decides which rows `kerazoo prepare` makes of a corpus."""

import dataclasses

from kerazoo.checks import check_one_of, check_positive, check_rate
from kerazoo.data.objectives import BERT, GPT, OBJECTIVES

SEGMENTERS = ("none", "jieba", "ltp")
MASKINGS = ("token", "whole_word", "ngram")
PACKINGS = (DOCUMENTS, LINES) = ("documents", "lines")
STATIC_MASK_SETTINGS = ("masking", "mask_selection_rate", "mask_selection_length")
"""The settings that say where static masks are."""

_SPECIAL_TOKENS = {"bert": 3, "bert-mlm": 2, "gpt": 0}


@dataclasses.dataclass(frozen=True)
class PrepareSettings:
    """Settings of a corpus of rows; the same settings give the same bytes.

    Args:
        objective: "bert" (pairs of texts, half of them from another document), "bert-mlm" (full
            sentences) or "gpt" (documents joined by the end token).
        sequence_length: int, the tokens of a row that a model reads.
        documents_per_block: int, documents that are worked on together; the second text of a pair
            comes from the same block.
        blocks_per_shard: int, blocks whose rows stand in one file.
        segmenter: "jieba", "ltp", "none" (texts have a space between words), or None: every Han
            character is a word.
        segmenter_model: str, the name or folder of LTP's model; None is its default.
        short_sequence_rate: float, share of the documents whose pairs aim at a shorter, random
            length ("bert").
        static_masks: int, copies of the corpus, each with masks of its own; 0 stores no masks.
        masking: "token", "whole_word" or "ngram": where static masks are.
        mask_selection_rate: float, share of a row's tokens that are masked.
        mask_selection_length: int, the most static masks of a row; None is the rate of a full row.
        packing: "documents" or "lines": each of them is a text of its own, several of which stand
            in a row and do not see each other ("bert-mlm", "gpt"). None joins them.
        seed: int, of all that is drawn.
    """

    objective: str = BERT
    sequence_length: int = 128
    documents_per_block: int = 256
    blocks_per_shard: int = 8
    segmenter: str | None = None
    segmenter_model: str | None = None
    short_sequence_rate: float = 0.1
    static_masks: int = 0
    masking: str = "token"
    mask_selection_rate: float = 0.15
    mask_selection_length: int | None = None
    packing: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every setting."""
        check_one_of("objective", self.objective, OBJECTIVES)
        for name in ("sequence_length", "documents_per_block", "blocks_per_shard"):
            check_positive(name, getattr(self, name))
        if self.segmenter is not None:
            check_one_of("segmenter", self.segmenter, SEGMENTERS)
        check_rate("short_sequence_rate", self.short_sequence_rate)
        check_rate("mask_selection_rate", self.mask_selection_rate)
        check_one_of("masking", self.masking, MASKINGS)
        if self.packing is not None:
            check_one_of("packing", self.packing, PACKINGS)
        self._check_size()
        self._check_objective()

    @property
    def row_length(self) -> int:
        """The most tokens of a stored row: "gpt" stores one more, the last target."""
        return self.sequence_length + (self.objective == GPT)

    @property
    def text_length(self) -> int:
        """The most tokens of a row beside the special ones."""
        return self.row_length - _SPECIAL_TOKENS[self.objective]

    @property
    def mask_slots(self) -> int:
        """Static masks that a row can hold."""
        if not self.static_masks:
            return 0
        if self.mask_selection_length is not None:
            return self.mask_selection_length
        return max(1, round(self.sequence_length * self.mask_selection_rate))

    def check_masks(self) -> None:
        """Raise ValueError if it is said where masks are, and none are stored.

        Not when settings are made: those of shards that hold none may say so.
        """
        for name in STATIC_MASK_SETTINGS:
            value = getattr(self, name)
            if not self.static_masks and value != self.__dataclass_fields__[name].default:
                raise ValueError(
                    "These rows hold no masks: those of BERT are masked while they are trained on. "
                    "Give this to `kerazoo pretrain`, or store masks with static_masks=1 or more. "
                    f"Received: {name}={value!r}, static_masks=0, objective={self.objective!r}"
                )

    def _check_size(self) -> None:
        if self.text_length < 2:
            raise ValueError(
                "A row must have room for two tokens beside its special tokens. Choose a longer "
                f"one. Received: sequence_length={self.sequence_length!r}"
            )
        if self.objective == BERT and self.documents_per_block < 2:
            raise ValueError(
                "The second text of a pair comes from another document of the block, so a block "
                f"needs two. Received: documents_per_block={self.documents_per_block!r}"
            )
        if self.mask_selection_length is not None:
            check_positive("mask_selection_length", self.mask_selection_length)

    def _check_objective(self) -> None:
        if isinstance(self.static_masks, bool) or self.static_masks < 0:
            raise ValueError(
                "The copies with static masks are 0 or more. "
                f"Received: static_masks={self.static_masks!r}"
            )
        for name in ("static_masks", "segmenter"):
            if self.objective == GPT and getattr(self, name):
                raise ValueError(
                    "A causal language model has no masks and no words to mask; leave the setting "
                    f"out. Received: {name}={getattr(self, name)!r} with objective='gpt'"
                )
        if self.objective == BERT and self.packing is not None:
            raise ValueError(
                "Where next sentences are learnt, a row holds one pair, as its first token answers "
                "for the row. Leave the setting out, or take objective='bert-mlm'. "
                f"Received: packing={self.packing!r} with objective='bert'"
            )
        if self.segmenter_model is not None and self.segmenter != "ltp":
            raise ValueError(
                "Only the segmenter 'ltp' has a model to choose. "
                f"Received: segmenter_model={self.segmenter_model!r}, segmenter={self.segmenter!r}"
            )
