"""Options of the commands that read a corpus."""

from collections.abc import Callable
from typing import Any

import click


def corpus_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--errors` and `--document-per-file`."""
    command = click.option(
        "--document-per-file",
        is_flag=True,
        help="Blank lines do not end a document; files do.",
    )(command)
    return click.option(
        "--errors",
        type=click.Choice(("strict", "replace")),
        default="strict",
        show_default=True,
        help="Bytes that are not UTF-8: stop, or replace them.",
    )(command)
