"""Options that several commands share. Their defaults come from the settings' dataclass."""

import dataclasses
from collections.abc import Callable
from typing import Any

import click

from kerazoo.cli.failure import DEBUG
from kerazoo.training.config import (
    CLASS_WEIGHTS,
    POOLINGS,
    PRECISIONS,
    UNUSED_SETTINGS,
    FinetuneConfig,
)
from kerazoo.training.generation_settings import GenerationSettings

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(FinetuneConfig)}
_SETTINGS: dict[str, tuple[Any, str]] = {
    "epochs": (int, "Passes over the training rows."),
    "batch_size": (int, "Rows of one step."),
    "learning_rate": (
        float,
        "Highest learning rate. [default: 5e-5; with LoRA 5e-4; the head alone 1e-3]",
    ),
    "sequence_length": (
        int,
        "Tokens of a row; longer texts are cut. [default: 256, or what the checkpoint reads]",
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
    "validation_fraction": (float, "Share of rows held out if there is no --validation."),
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
        type=int,
        default=_DEFAULTS["batch_size"],
        show_default=True,
        help="Rows computed together.",
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

    An option that is not given is None, so that the file named by `--config` decides.

    Args:
        task_name: the task, whose unused settings are left out.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(_DEFAULTS):
            if name not in UNUSED_SETTINGS[task_name]:
                command = _setting_option(name)(command)
        return click.option(
            "--config",
            metavar="FILE",
            help="Settings in YAML or JSON, by the options' names; options on the line win.",
        )(command)

    return decorate


def _setting_option(name: str) -> Callable[..., Any]:
    kind, words = _SETTINGS[name]
    flag = f"--{name.replace('_', '-')}"
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=words)
    default = _DEFAULTS[name]
    shown = "" if default is None else f" [default: {default}]"
    return click.option(flag, name, type=kind, default=None, help=words + shown)


def settings_from(config: str | None, options: dict[str, Any]) -> FinetuneConfig:
    """Return the settings of a file, the defaults, and the options given on the line.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a setting is unknown or unfit.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return FinetuneConfig(**given) if config is None else FinetuneConfig.from_file(config, **given)
