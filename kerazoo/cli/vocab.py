"""`kerazoo vocab`: a vocabulary for a corpus."""

import json
from typing import TYPE_CHECKING

import click

from kerazoo.cli.corpus_options import corpus_options
from kerazoo.cli.options import OutputPath, debug_option, json_option, quiet_option
from kerazoo.training.counted import counted

if TYPE_CHECKING:
    from kerazoo.tokenizers.vocabulary_training import TrainedVocabulary


@click.command()
@click.argument("corpus", nargs=-1, required=True)
@click.option("--size", type=int, required=True, help="Entries, special tokens included.")
@click.option(
    "--output",
    required=True,
    type=OutputPath(),
    metavar="FILE",
    help="File to create; a folder for the BPE kinds.",
)
@click.option(
    "--kind",
    type=click.Choice(("wordpiece", "byte-bpe", "gpt-bpe")),
    default="wordpiece",
    show_default=True,
    help="BERT's, GPT-2's or GPT-1's.",
)
@click.option("--cased", is_flag=True, help="Keep capitals and accents (byte-bpe always does).")
@click.option(
    "--min-frequency",
    type=int,
    default=2,
    show_default=True,
    help="Leave out entries that are rarer.",
)
@click.option(
    "--character-coverage",
    type=float,
    default=0.9995,
    show_default=True,
    help="Share of all characters that is known.",
)
@click.option(
    "--share",
    type=float,
    help="Share of the documents to read. [default: all, or 1 GB of text, byte-bpe 200 MB]",
)
@corpus_options
@json_option
@quiet_option
@debug_option
def vocab(
    corpus: tuple[str, ...],
    size: int,
    output: str,
    kind: str,
    cased: bool,
    min_frequency: int,
    character_coverage: float,
    share: float | None,
    errors: str,
    document_per_file: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make a vocabulary for the texts of CORPUS.

    CORPUS is files, folders or - for standard input: plain text with a sentence or paragraph a line
    and a blank line between documents, or JSONL with the key text; .gz is read too.
    """
    from kerazoo.data.corpus_vocabulary import make_vocabulary
    from kerazoo.training.progress import Progress

    progress = Progress(quiet)
    with progress.bar("documents") as advance:
        vocabulary = make_vocabulary(
            corpus,
            output,
            size,
            kind,
            lowercase=not cased,
            min_frequency=min_frequency,
            character_coverage=character_coverage,
            share=share,
            errors=errors,
            document_per_file=document_per_file,
            on_document=lambda: advance(1, ""),
            say=progress.say,
        )
    result = {
        "output": output,
        "kind": kind,
        "entries": len(vocabulary.entries),
        "characters_left_out": vocabulary.characters_left_out,
        "share_left_out": vocabulary.share_left_out,
    }
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    sought = f"--min-frequency {min_frequency}"
    if kind != "byte-bpe":
        sought += f", --character-coverage {character_coverage}"
    click.echo(f"{_summary(vocabulary, kind, size, sought)}: {output}")


def _summary(vocabulary: "TrainedVocabulary", kind: str, size: int, sought: str) -> str:
    """Say what came of it; `sought` is the options that decide how many entries there can be."""
    said = f"{len(vocabulary.entries):,} entries ({kind})"
    if len(vocabulary.entries) < size:
        what = "pieces" if kind == "byte-bpe" else "characters and pieces"
        said += (
            f", fewer than {size:,}, as the texts hold no more {what} that are frequent enough "
            f"({sought})"
        )
    if vocabulary.characters_left_out:
        said += (
            f"; {counted(vocabulary.characters_left_out, 'rare character')} "
            f"({vocabulary.share_left_out:.3%} of the text) "
            f"{'is' if vocabulary.characters_left_out == 1 else 'are'} unknown"
        )
    return said
