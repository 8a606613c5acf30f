"""`kerazoo predict`: answers to texts as JSON lines, or a continuation as it comes."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kerazoo.cli.answer_in_context import answer_in_context, is_answer_in_context
from kerazoo.cli.entities_in_text import entities_in_text, has_entities_in_text
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
@click.option("--question", "questions", multiple=True, help="A question; may be repeated.")
@click.option("--context", help="The passage that answers every --question.")
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="Texts: .tsv, .csv, .jsonl, .txt (a text a line), -. Choices: .jsonl, -. Questions about "
    "passages: .json (SQuAD, CMRC 2018), .jsonl, -. Words: .conll (a word a line), .jsonl, -.",
)
@generation_options
@batch_size_option
@quiet_option
@debug_option
def predict(
    model: str,
    texts: tuple[str, ...],
    pairs: tuple[str, ...],
    questions: tuple[str, ...],
    context: str | None,
    source: str | None,
    batch_size: int,
    quiet: bool,
    **generation: Any,
) -> None:
    """Answer texts with MODEL, a preset or a SavedModel.

    Each answer is a line of JSON: the text and what the model says of it. A language model
    continues texts; on a terminal one --text is continued as plain text, word by word. Answers to
    questions about passages, and entities, are marked in their texts on a terminal. A SavedModel is
    answered with TensorFlow and TensorFlow Text alone.
    """
    if (source is not None) + bool(texts) + bool(questions) != 1:
        raise click.UsageError("Give texts with --text, or a file with --input.")
    if bool(questions) != (context is not None):
        raise click.UsageError("--question needs --context, the passage that answers it.")
    if source is not None and pairs:
        raise click.UsageError("--text-pair belongs to --text; a file has the column text_pair.")
    if pairs and len(pairs) != len(texts):
        raise click.UsageError(
            f"Every --text needs one --text-pair: {len(texts)} and {len(pairs)} were given."
        )
    from kerazoo.training.predict import predict as run
    from kerazoo.training.progress import Progress

    settings = generation_settings(generation)
    if len(texts) == 1 and not pairs and _on_terminal():
        if _streamed(model, texts[0], settings):
            return
    rows = source or (
        _rows_of({"text": texts, "text_pair": pairs})
        if texts
        else _rows_of({"question": questions, "context": (context or "",) * len(questions)})
    )
    progress = Progress(quiet, bars=not _on_terminal())
    for answer in run(model, rows, batch_size, progress, settings):
        if _on_terminal() and is_answer_in_context(answer):
            click.echo(answer_in_context(answer))
        elif _on_terminal() and has_entities_in_text(answer):
            click.echo(entities_in_text(answer))
        else:
            click.echo(json.dumps(answer, ensure_ascii=False))


def _on_terminal() -> bool:
    return sys.stdout.isatty()


def _streamed(model: str, text: str, settings: "GenerationSettings | None") -> bool:
    """Print a continuation as it comes; return False if the model does not do that."""
    from kerazoo.training.predictor import is_saved_model, trained_task

    searches = settings is not None and (settings.num_beams or settings.sliding_window)
    if searches or is_saved_model(model) or trained_task(model) != "causal-lm":
        return False
    from kerazoo.training.preset_predictor import PresetPredictor

    (row,) = _rows_of({"text": (text,)})
    for piece in PresetPredictor.from_preset(model, settings).stream(row.values["text"]):
        click.echo(piece, nl=False)
        sys.stdout.flush()
    click.echo()
    return True


def _rows_of(columns: dict[str, tuple[str, ...]]) -> Iterator["Row"]:
    """Return the texts of the command line as rows; columns without any are left out.

    Args:
        columns: the texts by the names of their options, with "_" for "-".
    """
    from kerazoo.data.row import Row

    given = {name: texts for name, texts in columns.items() if texts}
    unit = f"--{next(iter(given))} number"
    for number, row in enumerate(zip(*given.values(), strict=True), start=1):
        values = dict(zip(given, row, strict=True))
        for name, value in values.items():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"--{name.replace('_', '-')} number {number} is not UTF-8."
                ) from error
        yield Row(number, values, unit)
