"""`kerazoo predict`: answers to texts as JSON lines."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kerazoo.cli.options import batch_size_option, debug_option, quiet_option

if TYPE_CHECKING:
    from kerazoo.data.row import Row


@click.command()
@click.argument("model")
@click.option("--text", "texts", multiple=True, help="A text; may be repeated.")
@click.option("--text-pair", "pairs", multiple=True, help="The second text of each --text.")
@click.option(
    "--input", "source", metavar="FILE", help="Texts: .tsv, .csv, .jsonl, .txt (a text a line), -."
)
@batch_size_option
@quiet_option
@debug_option
def predict(
    model: str,
    texts: tuple[str, ...],
    pairs: tuple[str, ...],
    source: str | None,
    batch_size: int,
    quiet: bool,
) -> None:
    """Answer texts with MODEL, a preset or a SavedModel.

    Each answer is a line of JSON: text, label, score, probabilities. A SavedModel is answered with
    TensorFlow and TensorFlow Text alone.
    """
    if (source is None) == (not texts):
        raise click.UsageError("Give texts with --text, or a file with --input.")
    if source is not None and pairs:
        raise click.UsageError("--text-pair belongs to --text; a file has the column text_pair.")
    if pairs and len(pairs) != len(texts):
        raise click.UsageError(
            f"Every --text needs one --text-pair: {len(texts)} and {len(pairs)} were given."
        )
    from kerazoo.data.read_table import read_rows
    from kerazoo.training.predict import predict as run
    from kerazoo.training.progress import Progress

    rows = read_rows(source) if source is not None else _rows_of(texts, pairs)
    for answer in run(model, rows, batch_size, Progress(quiet)):
        click.echo(json.dumps(answer, ensure_ascii=False))


def _rows_of(texts: tuple[str, ...], pairs: tuple[str, ...]) -> Iterator["Row"]:
    """Return the texts of the command line as rows."""
    from kerazoo.axes import TEXT, TEXT_PAIR
    from kerazoo.data.row import Row

    for number, text in enumerate(texts, start=1):
        values = {TEXT: text, TEXT_PAIR: pairs[number - 1]} if pairs else {TEXT: text}
        for name, value in values.items():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"--{name.replace('_', '-')} number {number} is not UTF-8."
                ) from error
        yield Row(number, values)
