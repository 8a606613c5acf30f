"""`kerazoo evaluate`: measure a model on labelled rows."""

import json
from typing import Any

import click

from kerazoo.cli.options import (
    batch_size_option,
    debug_option,
    json_option,
    quiet_option,
    tag_scheme_option,
)
from kerazoo.training.counted import counted


@click.command()
@click.argument("model")
@click.option(
    "--data",
    required=True,
    metavar="FILE",
    help="Labelled rows: .tsv, .csv, .jsonl, -; questions: .json; words with tags: .conll.",
)
@click.option("--strict", is_flag=True, help="Fail at a bad row that could be left out.")
@tag_scheme_option
@batch_size_option
@json_option
@quiet_option
@debug_option
def evaluate(
    model: str,
    data: str,
    strict: bool,
    tag_scheme: str,
    batch_size: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure MODEL, a preset or a SavedModel, on labelled rows."""
    from kerazoo.training.evaluate import evaluate as run
    from kerazoo.training.progress import Progress

    report = run(model, data, batch_size, Progress(quiet), strict, tag_scheme)
    click.echo(json.dumps(report, ensure_ascii=False) if as_json else _as_text(report))


def _as_text(report: dict[str, Any]) -> str:
    """Return a line for each label or type of entity, if there are such, and the summary."""
    lines = _label_lines(report["labels"]) if "labels" in report else []
    if report.get("types"):
        lines = _label_lines(report["types"], "type")
    if "labels" in report:
        lines.append(
            f"accuracy {report['accuracy']:.4f}, macro F1 {report['macro_f1']:.4f}, "
            f"loss {report['loss']:.4f} on {counted(report['rows'], 'row')}"
        )
    else:
        measures = [f"{k} {v:.4f}" for k, v in report.items() if isinstance(v, float)]
        lines.append(f"{', '.join(measures)} on {counted(report['rows'], 'row')}")
    return "\n".join(lines)


def _label_lines(labels: dict[str, Any], title: str = "label") -> list[str]:
    width = max(len(title), *(len(label) for label in labels))
    lines = [f"{title:<{width}}  precision  recall      f1  support"]
    for label, row in labels.items():
        lines.append(
            f"{label:<{width}}  {row['precision']:9.4f}  {row['recall']:6.4f}  {row['f1']:6.4f}  "
            f"{row['support']:7d}"
        )
    return lines
