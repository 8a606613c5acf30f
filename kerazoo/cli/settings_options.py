"""Options for the fields of a settings class, which a file may give too."""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import click

from kerazoo.training.settings import Settings

SettingsType = TypeVar("SettingsType", bound=Settings)

OptionTable = Mapping[str, tuple[Any, str]]
"""For each field the type of its option, as click takes it, and what the help says."""


def options_of(
    settings_class: type[Settings], table: OptionTable, left_out: Collection[str] = ()
) -> Callable[..., Any]:
    """Return a decorator: an option for every field, and `--config`.

    An option that is not given is None, so that the file named by `--config` decides. A default
    other than None is shown.

    Args:
        settings_class: the settings; their defaults stand there.
        table: types and words, field by field.
        left_out: fields without an option.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for field in reversed(dataclasses.fields(settings_class)):
            if field.name not in left_out:
                command = _option(field.name, field.default, *table[field.name])(command)
        return click.option(
            "--config",
            metavar="FILE",
            help="Settings in YAML or JSON, by the options' names; options on the line win.",
        )(command)

    return decorate


def settings_of(
    settings_class: type[SettingsType], config: str | None, options: Mapping[str, Any]
) -> SettingsType:
    """Return the settings of a file, the defaults, and the options given on the line.

    Args:
        settings_class: the settings.
        config: the file; None is none.
        options: the values of the options, None where not given.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a setting is unknown or unfit.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if config is None:
        return settings_class(**given)
    return settings_class.from_file(config, **given)


def _option(name: str, default: Any, kind: Any, words: str) -> Callable[..., Any]:
    flag = f"--{name.replace('_', '-')}"
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", name, default=None, help=words)
    shown = "" if default is None else f" [default: {default}]"
    return click.option(flag, name, type=kind, default=None, help=words + shown)
