"""A backbone and its tokenizer, from whatever holds them: a task, a folder, or the two."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kerazoo.analysis.block_runner import BlockRunner
from kerazoo.backbones.base import Backbone
from kerazoo.backbones.registry import backbone_class
from kerazoo.checks import check_positive
from kerazoo.conversion.source import open_checkpoint
from kerazoo.data.tokenizer_source import preset_tokenizer
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.training.predictor import is_saved_model


@dataclass(frozen=True)
class AnalysedModel:
    """What an analysis needs of a model.

    Args:
        backbone: a kerazoo backbone.
        tokenizer: its tokenizer.
        run_block: what computes its layers.

    Raises:
        ValueError: if the backbone is no kerazoo one, or the tokenizer gives ids that it lacks.
    """

    backbone: Backbone
    tokenizer: Tokenizer
    run_block: BlockRunner = field(default_factory=BlockRunner, compare=False)

    def __post_init__(self) -> None:
        """Check that the two belong together."""
        if not isinstance(self.backbone, Backbone):
            raise ValueError(
                "Give a kerazoo task, a kerazoo backbone, or the folder of a model. "
                f"Received: {type(self.backbone).__name__}"
            )
        rows, entries = self.backbone.config.vocabulary_size, self.tokenizer.vocabulary_size()
        if entries > rows:
            raise ValueError(
                "The tokenizer has more entries than the backbone has embeddings; give the "
                f"backbone's own. Received: entries={entries}, vocabulary_size={rows}"
            )

    @property
    def limit(self) -> int:
        """The most tokens that the model reads."""
        return int(self.backbone.config.max_sequence_length)

    @property
    def causal(self) -> bool:
        """Whether a token sees itself and earlier ones only."""
        return bool(self.backbone.transformer_layers[0].causal)

    @classmethod
    def of(
        cls,
        model: Any,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
    ) -> Self:
        """Return the backbone and the tokenizer of a model.

        Args:
            model: a task, a backbone, or a folder or handle that `Backbone.from_preset` reads.
            tokenizer: the tokenizer; needed for a backbone, else the model's own if None.
            sequence_length: int, tokens that the model must be able to read, which a folder tells
                before its weights are read; None asks for none.

        Raises:
            FileNotFoundError: if there is no such folder, or it has no tokenizer.
            ValueError: if the model is none that can be looked into, has no tokenizer, or reads
                fewer tokens.
        """
        if isinstance(model, (str, Path)):
            backbone = _backbone_of_folder(model, sequence_length)
            return cls(backbone, tokenizer or preset_tokenizer(model))
        if isinstance(model, AnalysedModel):
            return cls(model.backbone, tokenizer or model.tokenizer, model.run_block)
        backbone = getattr(model, "backbone", model)
        own: Any = getattr(getattr(model, "preprocessor", None), "tokenizer", None)
        if tokenizer is None and own is None and isinstance(backbone, Backbone):
            raise ValueError(
                "Texts need a tokenizer, and the model brings none. Give one with tokenizer=…. "
                f"Received: {type(model).__name__}"
            )
        return cls(backbone, tokenizer or own)


def check_sequence_length(sequence_length: int, limit: int) -> None:
    """Raise ValueError unless a model reads so many tokens.

    Args:
        sequence_length: int, how many are asked for.
        limit: int, the most that the model reads.
    """
    check_positive("sequence_length", sequence_length)
    if sequence_length > limit:
        raise ValueError(
            f"The model reads at most {limit} tokens. Received: sequence_length={sequence_length}"
        )


def _backbone_of_folder(path: str | Path, sequence_length: int | None) -> Backbone:
    if is_saved_model(path):
        raise ValueError(
            "A SavedModel answers texts and shows nothing else. Give the preset or the Hugging "
            f"Face folder that it was exported from. Received: {str(path)!r}"
        )
    source = open_checkpoint(path)
    if sequence_length is not None and (limit := source.max_sequence_length):
        check_sequence_length(sequence_length, limit)
    backbone: Backbone = backbone_class(source.family).from_preset(source)
    return backbone
