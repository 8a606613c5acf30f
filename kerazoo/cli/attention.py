"""`kerazoo attention`: what the heads of a model look at, on texts or over a corpus."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from kerazoo.analysis.patterns import HeadPatterns

# Of fewer texts Student's t gives intervals so wide that they reach below zero.
_TEXTS_OF_AN_INTERVAL = 5


@click.command()
@click.argument("model")
@click.option("--text", "texts", multiple=True, help="A text; may be repeated.")
@click.option("--text-pair", "pairs", multiple=True, help="The second text of each --text.")
@click.option(
    "--input",
    "source",
    metavar="FILE",
    help="A corpus: .txt (a text a line), .tsv, .csv or .jsonl with `text`, perhaps `text_pair`.",
)
@click.option(
    "--output", type=OutputPath(), help="Write a page that shows one --text, or pair: .html."
)
@click.option("--table", type=OutputPath(), help="Write a row a head: .csv, or .json.")
@click.option("--plot", type=OutputPath(), help="Draw entropy by layer: .png, .svg or .pdf.")
@click.option(
    "--sequence-length",
    type=click.IntRange(min=1),
    help="Cut texts to so many tokens. [default: with --input 128]",
)
@click.option(
    "--max-texts", type=click.IntRange(min=1), help="Measure the first texts of --input only."
)
@batch_size_option
@json_option
@quiet_option
@debug_option
def attention(
    model: str,
    texts: tuple[str, ...],
    pairs: tuple[str, ...],
    source: str | None,
    output: str | None,
    table: str | None,
    plot: str | None,
    sequence_length: int | None,
    max_texts: int | None,
    batch_size: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show what the heads of MODEL look at.

    --output writes a page for a browser: every head on one text, as heat map and as lines.

    Prints the entropy of each layer's attention and the heads that look most at the previous
    token, at `[SEP]`, and so on. With --json, of a --text everything: a line with its tokens and
    all weights, (layers, heads, query, key); of --input the table.
    """
    _check_usage(texts, pairs, source, output, max_texts)
    from kerazoo.analysis.analysed_model import AnalysedModel
    from kerazoo.analysis.attention import attention_maps
    from kerazoo.analysis.attention_page import write_attention_page
    from kerazoo.analysis.entropy_plot import plot_entropy
    from kerazoo.analysis.patterns import head_patterns
    from kerazoo.training.progress import Progress

    _check_outputs(output, table, plot)
    opened = AnalysedModel.of(model, sequence_length=sequence_length if source is None else None)
    given: Any = (list(texts), list(pairs)) if pairs else list(texts)
    if source is None:
        maps = attention_maps(opened, given, batch_size=batch_size, sequence_length=sequence_length)
        if as_json or output:
            for found in maps:
                if as_json:
                    click.echo(json.dumps(found.as_dict(), ensure_ascii=False))
        if as_json and not (output or table or plot):
            return
    patterns = head_patterns(
        opened,
        given if source is None else Path(source),
        batch_size=batch_size,
        sequence_length=sequence_length or (opened.limit if source is None else 128),
        max_texts=max_texts,
        progress=Progress(quiet),
    )
    if output:
        write_attention_page(found, patterns, output, title=Path(model).name or model)
    if table:
        patterns.write_table(table)
    if plot:
        plot_entropy(patterns, plot)
    if as_json and source is not None:
        click.echo(json.dumps(patterns.as_dict()))
    if not as_json:
        click.echo("\n".join(_as_text(patterns)))
        written = {"Page": output, "Table": table, "Plot": plot}
        for name, path in written.items():
            if path is not None:
                click.echo(f"{name}: {path}")


def _check_usage(
    texts: tuple[str, ...],
    pairs: tuple[str, ...],
    source: str | None,
    output: str | None,
    max_texts: int | None,
) -> None:
    """Raise for options that do not belong together."""
    if source is None and not texts:
        raise click.UsageError("Give texts with --text, or a corpus with --input.")
    if source is not None and (texts or pairs):
        raise click.UsageError("Give texts with --text, or a corpus with --input, not both.")
    if source is None and max_texts is not None:
        raise click.UsageError("--max-texts belongs to --input.")
    if pairs and len(pairs) != len(texts):
        raise click.UsageError(
            f"Every --text needs one --text-pair: {len(texts)} and {len(pairs)} were given."
        )
    if output and len(texts) != 1:
        raise click.UsageError("A page shows one text, or pair: give one --text with --output.")


def _check_outputs(output: str | None, table: str | None, plot: str | None) -> None:
    """Raise for an output that cannot be created, before a model is loaded."""
    from kerazoo.analysis.attention_page import check_page_path
    from kerazoo.analysis.patterns import check_table_path
    from kerazoo.analysis.plotting import check_plot_path
    from kerazoo.conversion.new_file import check_can_be_created, check_is_no_file

    checks = ((output, check_page_path), (table, check_table_path), (plot, check_plot_path))
    given = [(path, check) for path, check in checks if path is not None]
    for path, check in given:
        check_is_no_file(Path(path))
        check(path)
    for path, _ in given:
        check_can_be_created(path)


def _as_text(patterns: "HeadPatterns") -> Iterator[str]:
    """Yield a line for each layer, one for the strongest head of each kind, and the counts."""
    interval = "(95 % interval)" if patterns.texts > 1 else ""
    has_intervals = patterns.texts >= _TEXTS_OF_AN_INTERVAL
    yield f"layer  entropy {interval:<16}  share of ln(visible keys)"
    for row in patterns.layer_rows():
        low, high = row["entropy_low"], row["entropy_high"]
        shown = f"({low:.2f} to {high:.2f})" if has_intervals else "—"
        interval = "" if low is None else shown
        share = row["relative_entropy"]
        yield (
            f"{row['layer']:5d}  {row['entropy']:7.2f} {interval:<18}"
            + ("" if share is None else f"{share:8.3f}")
        )
    heads = list(patterns.rows())
    for name in (name for name in patterns.measures if name.startswith("to_")):
        found = [head for head in heads if head[name] is not None]
        if found:
            most = max(found, key=lambda head: head[name])
            yield (
                f"most {name.replace('_', ' '):<17} layer {most['layer']:2d}, "
                f"head {most['head']:2d}: {most[name]:.3f}"
            )
    left_out = f"{counted(patterns.empty, 'empty text')} left out"
    yield f"{counted(patterns.texts, 'text')}, {patterns.truncated} cut; {left_out}"
