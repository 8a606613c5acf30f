"""Options that several commands share. Their defaults come from the settings' dataclass."""

import dataclasses
from collections.abc import Callable
from typing import Any

import click

from kerazoo.cli.failure import DEBUG
from kerazoo.cli.settings_options import OptionTable, options_of, settings_of
from kerazoo.data.prepare_settings import MASKINGS
from kerazoo.data.tag_schemes import BIO, TAG_SCHEMES
from kerazoo.optimizers.on_non_finite import ON_NON_FINITE
from kerazoo.training.config import (
    CLASS_WEIGHTS,
    POOLINGS,
    UNUSED_SETTINGS,
    FinetuneConfig,
)
from kerazoo.training.generation_settings import GenerationSettings
from kerazoo.training.settings import AUTO, PRECISIONS, STRATEGIES


class OutputPath(click.ParamType):
    """A path to write to, which an empty variable of a shell script is not."""

    name = "path"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path as it is, unless it is empty."""
        if not value.strip():
            self.fail(f"The path is empty; name what to create. Received: {value!r}", param, ctx)
        return value


CHECKPOINT_SETTINGS: OptionTable = {
    "checkpoint_every": (int, "Steps between two checkpoints; 0 writes none on the way."),
    "keep_checkpoints": (int, "So many of the last checkpoints stay, and the best."),
    "on_non_finite": (
        click.Choice(ON_NON_FINITE),
        "What a step does whose gradient is not finite.",
    ),
}
"""Settings of every run that can be gone on with."""

BATCH_SETTINGS: OptionTable = {
    "batch_size": (int, "Rows of one step, on all devices together."),
    "accumulate": (int, "Parts of a batch that are computed one after the other."),
    "rematerialize": (bool, "Compute blocks twice, which takes less memory."),
    "bucket_width": (
        int,
        "Batches of similar length, padded to a multiple of this. [default: all lengths mixed]",
    ),
}
"""What the batches of every run are like."""

_SETTINGS: OptionTable = {
    "epochs": (int, "Passes over the training rows."),
    **BATCH_SETTINGS,
    "learning_rate": (
        float,
        "Highest learning rate. [default: 5e-5; with LoRA 5e-4; the head alone 1e-3]",
    ),
    "sequence_length": (
        int,
        "Tokens of a row; longer texts are cut, but read in windows by extractive-qa and "
        "token-classification. [default: 256, or what the checkpoint reads]",
    ),
    "precision": (click.Choice(PRECISIONS), "Numbers that are computed with."),
    "weight_decay": (float, "Weight decay; biases and layer norms are left out."),
    "warmup": (float, "Steps in which the rate rises: a share of all if below 1."),
    "clip_norm": (float, "Longest gradient over all weights; 0 is no limit."),
    "freeze_backbone": (bool, "Train the head alone."),
    "lora_rank": (int, "Rank of LoRA updates; 0 trains the weights themselves."),
    "pooling": (
        click.Choice(POOLINGS),
        "Vector that the head reads. [default: the checkpoint's, else pooled]",
    ),
    "lm_loss_weight": (
        float,
        "Weight of the language model loss beside the task's, on GPT. [default: 0.5]",
    ),
    "regression": (
        bool,
        "Learn scores, not classes. [default: if a label has a fraction]",
    ),
    "class_weight": (click.Choice(CLASS_WEIGHTS), "Let every label weigh the same."),
    "masking": (
        click.Choice(MASKINGS),
        "Where masks are. [default: the checkpoint's, else token]",
    ),
    "segmented": (bool, "Spaces set all words of the texts apart (Chinese)."),
    "mask_selection_rate": (
        float,
        "Share of tokens that are masked. [default: the checkpoint's, else 0.15]",
    ),
    "stride": (
        int,
        "Tokens from one window of a long text to the next. [default: half of the room; of "
        "extractive-qa at most 128]",
    ),
    "strict": (bool, "Fail at a bad row; else it is left out and counted."),
    "tag_scheme": (click.Choice(TAG_SCHEMES), "How the files mark entities."),
    "crf": (bool, "Score whole sequences of tags. [default: the checkpoint's, else no]"),
    "ban_illegal_moves": (bool, "Let the CRF give no I- behind no entity of its type."),
    "label_all_pieces": (bool, "Train all tokens of a word, not the first one alone."),
    "validation_fraction": (float, "Share of rows held out if there is no --validation."),
    **CHECKPOINT_SETTINGS,
    "seed": (int, "Seed of new weights, order, dropout and split."),
}


_GENERATION = {
    "max_new_tokens": "tokens of a continuation.",
    "temperature": "divides the logits; 0 takes the likeliest token.",
    "top_k": "draw from so many of the likeliest tokens; 0 is all.",
    "top_p": "draw from the likeliest that have this share; 1 is all.",
    "num_beams": "texts a beam search keeps; 0 is none.",
    "seed": "of the random numbers.",
    "sliding_window": "go on past the context limit.",
}


def _remember_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Keep the flag where the error handler finds it."""
    ctx.meta[DEBUG] = value


def debug_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--debug`."""
    return click.option(
        "--debug",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_debug,
        help="Show where an error happened.",
    )(command)


def strategy_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--strategy` and `--dry-run`."""
    command = click.option(
        "--dry-run",
        is_flag=True,
        help="Compile the step with XLA, as for a TPU, make one, and write nothing.",
    )(command)
    return click.option(
        "--strategy",
        type=click.Choice(STRATEGIES),
        default=AUTO,
        help=f"Devices that train together. [default: {AUTO}]",
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json`, passed as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        command
    )


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet`."""
    return click.option("--quiet", "-q", is_flag=True, help="No progress and no messages.")(command)


def batch_size_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--batch-size` to a command that does not train."""
    return click.option(
        "--batch-size",
        type=click.IntRange(min=1),
        default=FinetuneConfig.batch_size,
        show_default=True,
        help="Rows computed together.",
    )(command)


def tag_scheme_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tag-scheme` to a command that does not train."""
    return click.option(
        "--tag-scheme",
        type=click.Choice(TAG_SCHEMES),
        default=BIO,
        show_default=True,
        help="How a file marks entities.",
    )(command)


def generation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for every field of `GenerationSettings`; one that is not given is None."""
    for field in reversed(dataclasses.fields(GenerationSettings)):
        flag = f"--{field.name.replace('_', '-')}"
        words = f"Language models: {_GENERATION[field.name]}"
        if field.type is bool:
            option = click.option(flag, field.name, is_flag=True, default=None, help=words)
        else:
            words = f"{words} [default: {field.default}]"
            option = click.option(flag, field.name, type=field.type, default=None, help=words)
        command = option(command)
    return command


def generation_settings(options: dict[str, Any]) -> GenerationSettings | None:
    """Return the settings of a continuation; None if no option for them stands on the line."""
    given = {name: value for name, value in options.items() if value is not None}
    return GenerationSettings(**given) if given else None


def settings_options(task_name: str) -> Callable[..., Any]:
    """Return a decorator: an option for every field of `FinetuneConfig`, and `--config`.

    Args:
        task_name: the task, whose unused settings are left out.
    """
    return options_of(FinetuneConfig, _SETTINGS, UNUSED_SETTINGS[task_name])


def settings_from(config: str | None, options: dict[str, Any]) -> FinetuneConfig:
    """Return the settings of a fine-tuning run; see `settings_of`."""
    return settings_of(FinetuneConfig, config, options)
