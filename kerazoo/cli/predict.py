"""`kerazoo predict`: answers to texts as JSON lines, or a continuation as it comes."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kerazoo.cli.options import (
    batch_size_option,
    debug_option,
    generation_options,
    generation_settings,
    quiet_option,
)

if TYPE_CHECKING:
    from kerazoo.data.row import Row
    from kerazoo.training.generation_settings import GenerationSettings


@click.command()
@click.argument("model")
@click.option("--text", "texts", multiple=True, help="A text; may be repeated.")
@click.option("--text-pair", "pairs", multiple=True, help="The second text of each --text.")
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="Texts: .tsv, .csv, .jsonl, .txt (a text a line), -. Choices: .jsonl, -.",
)
@generation_options
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
    **generation: Any,
) -> None:
    """Answer texts with MODEL, a preset or a SavedModel.

    Each answer is a line of JSON: the text and what the model says of it. A language model
    continues texts; on a terminal one --text is continued as plain text, word by word. A SavedModel
    is answered with TensorFlow and TensorFlow Text alone.
    """
    if (source is None) == (not texts):
        raise click.UsageError("Give texts with --text, or a file with --input.")
    if source is not None and pairs:
        raise click.UsageError("--text-pair belongs to --text; a file has the column text_pair.")
    if pairs and len(pairs) != len(texts):
        raise click.UsageError(
            f"Every --text needs one --text-pair: {len(texts)} and {len(pairs)} were given."
        )
    from kerazoo.training.predict import predict as run
    from kerazoo.training.progress import Progress

    settings = generation_settings(generation)
    if source is None and len(texts) == 1 and not pairs and sys.stdout.isatty():
        if _streamed(model, texts[0], settings):
            return
    rows = source if source is not None else _rows_of(texts, pairs)
    for answer in run(model, rows, batch_size, Progress(quiet), settings):
        click.echo(json.dumps(answer, ensure_ascii=False))


def _streamed(model: str, text: str, settings: "GenerationSettings | None") -> bool:
    """Print a continuation as it comes; return False if the model does not do that."""
    from kerazoo.training.predictor import is_saved_model, trained_task

    searches = settings is not None and (settings.num_beams or settings.sliding_window)
    if searches or is_saved_model(model) or trained_task(model) != "causal-lm":
        return False
    from kerazoo.training.preset_predictor import PresetPredictor

    (row,) = _rows_of((text,), ())
    for piece in PresetPredictor.from_preset(model, settings).stream(row.values["text"]):
        click.echo(piece, nl=False)
        sys.stdout.flush()
    click.echo()
    return True


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
