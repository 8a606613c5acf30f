"""`kerazoo finetune`: train a task on labelled rows."""

import json
from typing import Any

import click

from kerazoo.cli.options import (
    debug_option,
    json_option,
    quiet_option,
    settings_from,
    settings_options,
)


@click.group()
def finetune() -> None:
    """Train a checkpoint for a task, on labelled rows."""


@finetune.command("text-classification")
@click.option("--preset", required=True, metavar="MODEL", help="Checkpoint to begin with.")
@click.option("--train", required=True, metavar="FILE", help="Labelled rows: .tsv, .csv, .jsonl.")
@click.option("--validation", metavar="FILE", help="Rows to measure on.")
@click.option("--output", required=True, metavar="DIR", help="Folder to create.")
@settings_options
@json_option
@quiet_option
@debug_option
def text_classification(
    preset: str,
    train: str,
    validation: str | None,
    output: str,
    config: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train one label for each text, or for each pair of texts.

    Files have the columns text, perhaps text_pair, and label; .gz is read too, and - is standard
    input. DIR receives the model, metrics.json and training_config.json when the run is complete.
    """
    from kerazoo.training.finetune import finetune as run
    from kerazoo.training.progress import Progress

    settings = settings_from(config, options)
    result = run(
        "text-classification", preset, train, validation, output, settings, Progress(quiet)
    )
    metrics = result.metrics
    if as_json:
        click.echo(json.dumps({"output": output, **metrics}, ensure_ascii=False))
        return
    click.echo(
        f"accuracy {metrics['accuracy']:.4f}, macro F1 {metrics['macro_f1']:.4f} on "
        f"{metrics['validation_rows']} validation rows after {metrics['seconds']:.0f} s. "
        f"Model, metrics and settings: {output}"
    )
