"""The model of a pre-training run: a checkpoint to go on with, or a new one of a named size."""

from typing import Any

from kerazoo.backbones.registry import backbone_class
from kerazoo.backbones.sizes import SIZES
from kerazoo.checks import check_one_of
from kerazoo.data.objectives import BERT, BERT_MLM, GPT
from kerazoo.data.prepare_settings import STATIC_MASK_SETTINGS
from kerazoo.tasks.registry import task_class
from kerazoo.training.pretrain_config import PretrainConfig

TASK_NAMES = {BERT: "bert-pretraining", BERT_MLM: "masked-lm", GPT: "causal-lm"}
"""The task that learns each objective."""


def family_of_size(size: str) -> str:
    """Return the family of a named size.

    Raises:
        ValueError: for an unknown size.
    """
    check_one_of("size", size, [name for sizes in SIZES.values() for name in sizes])
    return next(family for family, sizes in SIZES.items() if size in sizes)


def load_task(
    preset: str, objective: str, sequence_length: int, tokenizer: Any, config: PretrainConfig
) -> Any:
    """Read a checkpoint to go on with; heads that it lacks are new.

    Args:
        preset: what `Task.from_preset` reads.
        objective: "bert", "bert-mlm" or "gpt".
        sequence_length: int, tokens of a row.
        tokenizer: a kerazoo tokenizer.
        config: the settings of the run.

    Raises:
        FileNotFoundError: if there is no such checkpoint.
        ValueError: if it is of another family, its rows are shorter, or it is damaged.
    """
    task: Any = task_class(TASK_NAMES[objective]).from_preset(
        preset,
        preprocessor=_preprocessor(objective, tokenizer, sequence_length, config),
        dtype=config.precision,
    )
    task.backbone.trainable = True
    return task


def new_task(
    size: str, objective: str, sequence_length: int, tokenizer: Any, config: PretrainConfig
) -> Any:
    """Make a model with random weights.

    Args:
        size: a named size; its vocabulary is the tokenizer's, its positions are the config's.
        objective: "bert", "bert-mlm" or "gpt".
        sequence_length: int, tokens of a row.
        tokenizer: a kerazoo tokenizer.
        config: the settings of the run.

    Raises:
        ValueError: if the size is unknown or of another family, or has fewer positions.
    """
    family = family_of_size(size)
    if (family == "gpt") != (objective == GPT):
        raise ValueError(
            f"The size {size!r} is one of {family}, which cannot learn this objective; `kerazoo "
            f"zoo` lists the sizes. Received: size={size!r}, objective={objective!r}"
        )
    backbone = backbone_class(family).from_size(
        size,
        vocabulary_size=tokenizer.vocabulary_size(),
        max_sequence_length=config.max_sequence_length or sequence_length,
        dtype=config.precision,
    )
    preprocessor = _preprocessor(objective, tokenizer, sequence_length, config)
    return task_class(TASK_NAMES[objective])(backbone, preprocessor=preprocessor)


def _preprocessor(
    objective: str, tokenizer: Any, sequence_length: int, config: PretrainConfig
) -> Any:
    """Return the preprocessor that is saved with the model, and whose masker masks the rows."""
    preprocessor_class = task_class(TASK_NAMES[objective]).preprocessor_cls
    if objective == GPT:
        return preprocessor_class(tokenizer, sequence_length=sequence_length)
    chosen = {name: getattr(config, name) for name in STATIC_MASK_SETTINGS}
    return preprocessor_class(
        tokenizer,
        sequence_length=sequence_length,
        **{name: value for name, value in chosen.items() if value is not None},
        mask_token_rate=config.mask_token_rate,
        random_token_rate=config.random_token_rate,
        ngram_unit=config.ngram_unit,
        replace_per_word=config.replace_per_word,
    )
