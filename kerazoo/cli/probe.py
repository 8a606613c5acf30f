"""`kerazoo probe`: what a linear classifier reads off each layer of a model."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kerazoo.cli.options import (
    OutputPath,
    batch_size_option,
    debug_option,
    json_option,
    quiet_option,
)
from kerazoo.training.counted import counted

if TYPE_CHECKING:
    from kerazoo.analysis.probe_result import ProbeResult


@click.command()
@click.argument("model")
@click.option(
    "--data",
    required=True,
    metavar="FILE",
    help="Labelled words: .conll, or .jsonl with `words` and `tags`. Labelled texts or pairs: "
    ".tsv, .csv or .jsonl.",
)
@click.option(
    "--output",
    required=True,
    type=OutputPath(),
    help="Folder to create: probe.csv, probe.json and probe.png.",
)
@click.option(
    "--level",
    type=click.Choice(["token", "sequence"]),
    default="token",
    show_default=True,
    help="Labels of words, or of texts.",
)
@click.option(
    "--pooling",
    type=click.Choice(["first", "mean", "last"]),
    help="Which of its tokens' states stands for a word or a text. [default: first; on GPT last]",
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Repeats.")
@click.option(
    "--test-fraction",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of rows held out.",
)
@click.option(
    "--sequence-length",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    help="Tokens of a row; words behind are left out.",
)
@click.option("--max-rows", type=click.IntRange(min=1), help="Use the first rows only.")
@click.option("--cache", type=OutputPath(), help="Folder that keeps states for the next time.")
@batch_size_option
@json_option
@quiet_option
@debug_option
def probe(
    model: str,
    data: str,
    output: str,
    level: str,
    pooling: str | None,
    seeds: int,
    test_fraction: float,
    sequence_length: int,
    max_rows: int | None,
    cache: str | None,
    batch_size: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a linear classifier on every layer of MODEL, which stays as it is.

    Beside the accuracy of each layer stand that of the commonest label, of the same classifiers
    with random labels, and on a backbone of the same size that was never trained.
    """
    from kerazoo.analysis.probe import ProbeSettings
    from kerazoo.analysis.probe_folder import probe_to_folder
    from kerazoo.training.progress import Progress

    result = probe_to_folder(
        model,
        data,
        output,
        level=level,
        pooling=pooling,
        settings=ProbeSettings(seeds=tuple(range(seeds)), test_fraction=test_fraction),
        sequence_length=sequence_length,
        batch_size=batch_size,
        max_rows=max_rows,
        cache=cache,
        progress=Progress(quiet),
    )
    if as_json:
        click.echo(json.dumps(result.as_dict(), ensure_ascii=False))
    else:
        click.echo("\n".join(_as_text(result)))


def _as_text(result: "ProbeResult") -> Iterator[str]:
    """Yield a line for each layer, and the baselines that are the same for all."""
    yield "layer  accuracy         random labels  selectivity  random backbone  mix"
    for row in result.rows():
        yield (
            f"{row['layer']:5d}  {row['accuracy']:.3f} ± {row['accuracy_sd']:.3f}    "
            f"{row['control']:13.3f}  {row['selectivity']:11.3f}  {row['random_backbone']:15.3f}  "
            f"{row['mix_weight']:.2f}"
        )
    yield (
        f"commonest label {result.majority.mean():.3f}; all layers mixed "
        f"{result.mix_accuracy.mean():.3f}, centre of gravity {result.centre_of_gravity:.2f}; "
        f"{counted(result.examples, 'example')}, {len(result.labels)} labels, "
        f"{counted(len(result.seeds), 'seed')}"
    )
    from kerazoo.analysis.probe_examples import left_out_words

    if left_out := left_out_words(result.level, result.left_out, result.sequence_length):
        yield left_out
    if result.unconverged:
        stopped = counted(result.unconverged, "classifier")
        yield f"{stopped} stopped before the end of training"
