"""`kerazoo show`: what a saved model is."""

import json
from typing import Any

import click

from kerazoo.cli.options import debug_option, json_option


@click.command()
@click.argument("model")
@json_option
@debug_option
def show(model: str, as_json: bool) -> None:
    """Say what MODEL is: a preset, a foreign checkpoint or a SavedModel. No weights are loaded."""
    from kerazoo.cli.describe_model import describe_model

    description = describe_model(model)
    if as_json:
        click.echo(json.dumps(description, ensure_ascii=False))
        return
    width = max(len(name) for name in description) + 2
    for name, value in description.items():
        if value is not None:
            # A signature has commas of its own.
            text = ("\n" + " " * width).join(value) if name == "signatures" else _as_text(value)
            click.echo(f"{name.replace('_', ' '):<{width}}{text}")


def _as_text(value: Any) -> str:
    """Return a value in one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_as_text(item)}" for key, item in value.items())
    return str(value)
