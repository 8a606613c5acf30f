"""`kerazoo prepare`: a corpus as shards of tokenised rows."""

import dataclasses
import json
from typing import Any

import click

from kerazoo.cli.corpus_options import corpus_options
from kerazoo.cli.options import OutputPath, debug_option, json_option, quiet_option
from kerazoo.data.objectives import OBJECTIVES
from kerazoo.data.prepare_settings import MASKINGS, PACKINGS, SEGMENTERS, PrepareSettings
from kerazoo.training.counted import counted

_DEFAULTS = PrepareSettings()
_UNBALANCED = 0.6
_SETTINGS: dict[str, tuple[Any, str]] = {
    "objective": (click.Choice(OBJECTIVES), "Pairs of texts, full sentences, or joined documents."),
    "sequence_length": (int, "Tokens of a row."),
    "documents_per_block": (int, "Documents that pairs are made of."),
    "blocks_per_shard": (int, "Blocks whose rows stand in one file."),
    "segmenter": (
        click.Choice(SEGMENTERS),
        "Chinese words: by jieba, by LTP, or none if texts have spaces between words. "
        "[default: each Han character is a word]",
    ),
    "segmenter_model": (str, "LTP's model, a name or a folder. [default: LTP/small]"),
    "short_sequence_rate": (float, "bert: share of documents whose pairs are shorter."),
    "static_masks": (int, "Copies of the rows, each with masks; 0 leaves masks to the training."),
    "masking": (click.Choice(MASKINGS), "Where static masks are."),
    "mask_selection_rate": (float, "Share of tokens with static masks."),
    "mask_selection_length": (int, "Most static masks of a row. [default: the rate of a full row]"),
    "packing": (
        click.Choice(PACKINGS),
        "Texts that share a row and do not see each other. [default: all are joined]",
    ),
    "seed": (int, "Seed of all that is drawn."),
}


def _settings_options(command: Any) -> Any:
    for name, (kind, words) in reversed(_SETTINGS.items()):
        default = getattr(_DEFAULTS, name)
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=kind,
            default=default,
            show_default=default is not None,
            help=words,
        )(command)
    return command


@click.command()
@click.argument("corpus", nargs=-1, required=True)
@click.option("--vocab", metavar="FILE", help="Vocabulary file, or folder of a BPE vocabulary.")
@click.option("--preset", metavar="MODEL", help="Checkpoint whose tokenizer to take.")
@click.option(
    "--output",
    required=True,
    type=OutputPath(),
    metavar="DIR",
    help="Folder to create or go on with.",
)
@click.option("--cased", is_flag=True, help="With --vocab: keep capitals and accents.")
@_settings_options
@corpus_options
@click.option(
    "--workers", type=int, help="Processes that tokenise. [default: one a core if it pays]"
)
@click.option(
    "--runner",
    type=click.Choice(("local", "beam")),
    default="local",
    show_default=True,
    help="Processes of this machine, or Apache Beam.",
)
@click.option(
    "--pipeline-option",
    "pipeline_options",
    multiple=True,
    metavar="OPTION",
    help="Option of Beam, such as --pipeline-option=--runner=FlinkRunner; may be repeated.",
)
@json_option
@quiet_option
@debug_option
def prepare(
    corpus: tuple[str, ...],
    vocab: str | None,
    preset: str | None,
    output: str,
    cased: bool,
    workers: int | None,
    as_json: bool,
    quiet: bool,
    errors: str,
    document_per_file: bool,
    runner: str,
    pipeline_options: tuple[str, ...],
    **settings: Any,
) -> None:
    """Tokenise the texts of CORPUS into rows for pre-training.

    CORPUS is files, folders or - for standard input: plain text with a sentence or paragraph a line
    and a blank line between documents, or JSONL with the key text; .gz is read too. A run that was
    interrupted goes on where it was when it is started again.
    """
    if (vocab is None) == (preset is None):
        raise click.UsageError("Name the vocabulary with --vocab FILE, or a model with --preset.")
    if cased and vocab is None:
        raise click.UsageError("--cased goes with --vocab; a model's tokenizer knows its case.")
    if pipeline_options and runner != "beam":
        raise click.UsageError("--pipeline-option goes with --runner beam.")
    from kerazoo.data.prepare import prepare as run
    from kerazoo.data.tokenizer_source import preset_tokenizer, vocabulary_tokenizer
    from kerazoo.training.progress import Progress

    tokenizer = vocabulary_tokenizer(vocab, not cased) if vocab else preset_tokenizer(preset or "")
    with Progress(quiet).bar("documents") as advance:
        manifest = run(
            corpus,
            tokenizer,
            output,
            PrepareSettings(**settings),
            workers=workers,
            errors=errors,
            document_per_file=document_per_file,
            runner=runner,
            pipeline_options=pipeline_options,
            on_shard=lambda shard, is_kept: advance(
                shard.counts.documents, f"{shard.name}{' (kept)' if is_kept else ''}"
            ),
        )
    if as_json:
        counts = {**dataclasses.asdict(manifest.counts), "shards": len(manifest.shards)}
        click.echo(json.dumps({"output": output, **counts}, ensure_ascii=False))
        return
    click.echo(_summary(manifest, output))
    if not quiet:
        _say_what_is_odd(manifest)


def _summary(manifest: Any, output: str) -> str:
    """Say what came of it."""
    counts = manifest.counts
    pairs = ""
    if manifest.objective == "bert" and counts.rows:
        pairs = f", {counts.random_next / counts.rows:.1%} with a random second text"
    return (
        f"{counted(counts.documents, 'document')}, {counted(counts.rows, 'row')} of "
        f"{counts.tokens:,} tokens{pairs}, in {counted(len(manifest.shards), 'shard')}: {output}"
    )


def _say_what_is_odd(manifest: Any) -> None:
    """Say on standard error what a person would want to know of the rows."""
    counts = manifest.counts
    if manifest.objective == "bert" and counts.random_next > _UNBALANCED * counts.rows:
        click.echo(
            "Note: most second texts are random, as many lines fill a row by themselves. Put one "
            "sentence a line, or choose longer rows.",
            err=True,
        )
    if counts.fallback_lines:
        click.echo(
            f"Note: the words of {counts.fallback_lines:,} of {counts.segments:,} lines do not "
            "make up the line; each of their Han characters counts as a word.",
            err=True,
        )
    if counts.replaced_lines:
        click.echo(
            f"Note: {counted(counts.replaced_lines, 'line')} "
            f"{'holds' if counts.replaced_lines == 1 else 'hold'} U+FFFD, which stands for bytes "
            "that are not UTF-8.",
            err=True,
        )
