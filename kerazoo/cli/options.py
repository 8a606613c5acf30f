"""Options that several commands share. Their defaults come from the settings' dataclass."""

import dataclasses
from collections.abc import Callable
from typing import Any

import click

from kerazoo.cli.failure import DEBUG
from kerazoo.training.config import CLASS_WEIGHTS, POOLINGS, PRECISIONS, FinetuneConfig

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
    "class_weight": (click.Choice(CLASS_WEIGHTS), "Let every label weigh the same."),
    "validation_fraction": (float, "Share of rows held out if there is no --validation."),
    "seed": (int, "Seed of new weights, order, dropout and split."),
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


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for every field of `FinetuneConfig`, and `--config`.

    An option that is not given is None, so that the file named by `--config` decides.
    """
    for name in reversed(_DEFAULTS):
        kind, words = _SETTINGS[name]
        flag = f"--{name.replace('_', '-')}"
        if kind is bool:
            option = click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=words)
        else:
            default = _DEFAULTS[name]
            shown = "" if default is None else f" [default: {default}]"
            option = click.option(flag, name, type=kind, default=None, help=words + shown)
        command = option(command)
    return click.option(
        "--config",
        metavar="FILE",
        help="Settings in YAML or JSON, by the options' names; options on the line win.",
    )(command)


def settings_from(config: str | None, options: dict[str, Any]) -> FinetuneConfig:
    """Return the settings of a file, the defaults, and the options given on the line.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a setting is unknown or unfit.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return FinetuneConfig(**given) if config is None else FinetuneConfig.from_file(config, **given)
