"""`kerazoo convert`: one checkpoint format into another."""

import json

import click

from kerazoo.cli.convert_checkpoint import FORMATS, convert_checkpoint
from kerazoo.cli.options import debug_option, json_option


@click.command()
@click.argument("source")
@click.argument("destination")
@click.option(
    "--to", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True, help="Format."
)
@json_option
@debug_option
def convert(source: str, destination: str, to: str, as_json: bool) -> None:
    """Read the checkpoint SOURCE and write the folder DESTINATION.

    SOURCE is a kerazoo preset, a Hugging Face folder or handle, or Google's TF1 BERT checkpoint. A
    classifier keeps its head and labels.
    """
    result = convert_checkpoint(source, destination, to)
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    if result["report"]:
        click.echo(result["report"])
    click.echo(f"{result['kind']} written: {destination} ({to})")
