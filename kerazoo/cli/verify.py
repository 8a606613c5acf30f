"""`kerazoo verify`: would stock TensorFlow Serving serve this SavedModel, and why not?"""

import json

import click

from kerazoo.cli.options import debug_option, json_option


@click.command()
@click.argument("path")
@json_option
@debug_option
def verify(path: str, as_json: bool) -> None:
    """Say whether stock TensorFlow Serving would serve the SavedModel at PATH.

    PATH is a version folder or a base folder of versions, of which the highest is taken. The exit
    code is 0 if it would be served, else 1.
    """
    from kerazoo.export.verify import verify_saved_model

    report = verify_saved_model(path)
    click.echo(json.dumps(report.to_dict(), ensure_ascii=False) if as_json else str(report))
    if not report.ok:
        raise click.exceptions.Exit(1)
