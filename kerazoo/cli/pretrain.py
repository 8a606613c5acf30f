"""`kerazoo pretrain`: train a BERT or a GPT on texts without labels."""

import json
from pathlib import Path
from typing import Any

import click

from kerazoo.cli.options import (
    BATCH_SETTINGS,
    CHECKPOINT_SETTINGS,
    OutputPath,
    debug_option,
    json_option,
    quiet_option,
    strategy_options,
)
from kerazoo.cli.settings_options import OptionTable, options_of, settings_of
from kerazoo.data.objectives import OBJECTIVES
from kerazoo.data.prepare_settings import MASKINGS, PACKINGS, SEGMENTERS
from kerazoo.training.pretrain_config import NGRAM_UNITS, PretrainConfig
from kerazoo.training.settings import PRECISIONS

_SETTINGS: OptionTable = {
    "steps": (int, "Batches to train on, instead of --epochs."),
    "epochs": (float, "Passes over the rows. [default: 1]"),
    **BATCH_SETTINGS,
    "learning_rate": (float, "Highest learning rate."),
    "weight_decay": (float, "Weight decay; biases and layer norms are left out."),
    "warmup": (float, "Steps in which the rate rises: a share of all if below 1."),
    "clip_norm": (float, "Longest gradient over all weights; 0 is no limit."),
    "precision": (click.Choice(PRECISIONS), "Numbers that are computed with."),
    "masking": (click.Choice(MASKINGS), "Where masks are. [default: token]"),
    "mask_selection_rate": (float, "Share of tokens that are chosen. [default: 0.15]"),
    "mask_selection_length": (int, "Most masks of a row. [default: the rate of a full row]"),
    "mask_token_rate": (float, "Share of chosen tokens that become [MASK]."),
    "random_token_rate": (float, "Share of chosen tokens that become a random one."),
    "ngram_unit": (click.Choice(NGRAM_UNITS), "What n-grams are made of."),
    "replace_per_word": (bool, "Draw once a word what becomes of its pieces."),
    "objective": (
        click.Choice(OBJECTIVES),
        "Rows to make of raw text. [default: bert-mlm, or gpt as the model is]",
    ),
    "sequence_length": (
        int,
        "Tokens of a row of raw text. [default: 128, or what the model reads]",
    ),
    "segmenter": (
        click.Choice(SEGMENTERS),
        "Chinese words of raw text. [default: each Han character is a word]",
    ),
    "packing": (
        click.Choice(PACKINGS),
        "Texts of raw text that share a row and do not see each other. [default: all are joined]",
    ),
    "max_sequence_length": (int, "Positions of a new model. [default: the length of the rows]"),
    "validation_fraction": (float, "Share of rows held out if there is no --validation."),
    "validation_rows": (int, "Most rows that an evaluation reads."),
    "evaluate_every": (int, "Steps between two evaluations."),
    **CHECKPOINT_SETTINGS,
    "seed": (int, "Seed of new weights, order, masks and dropout."),
}


@click.command()
@click.option(
    "--data",
    required=True,
    multiple=True,
    metavar="DIR|FILE",
    help="Shards of kerazoo prepare; or files and folders of raw text (may be repeated).",
)
@click.option("--output", required=True, type=OutputPath(), metavar="DIR", help="Folder to create.")
@click.option("--preset", metavar="MODEL", help="Checkpoint to go on with.")
@click.option("--size", metavar="NAME", help="Size of a new model; see kerazoo zoo.")
@click.option("--vocab", metavar="FILE", help="The new model's vocabulary; shards have theirs.")
@click.option("--cased", is_flag=True, help="With --vocab: keep capitals and accents.")
@click.option("--validation", metavar="DIR|FILE", help="Shards or raw text to evaluate on.")
@click.option("--resume", is_flag=True, help="Go on with an unfinished run in --output.")
@click.option("--tensorboard", metavar="DIR", help="Folder for TensorBoard's logs.")
@click.option(
    "--data-service",
    multiple=True,
    metavar="ADDRESS",
    help="grpc://host:port of kerazoo data-service, which prepares the batches (may be repeated).",
)
@strategy_options
@options_of(PretrainConfig, _SETTINGS)
@json_option
@quiet_option
@debug_option
def pretrain(
    data: tuple[str, ...],
    output: str,
    preset: str | None,
    size: str | None,
    vocab: str | None,
    cased: bool,
    validation: str | None,
    resume: bool,
    tensorboard: str | None,
    data_service: tuple[str, ...],
    strategy: str,
    dry_run: bool,
    config: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train a model on texts without labels: go on with --preset, or begin with --size.

    BERT learns to fill in masked words (and, from shards of pairs, whether texts follow), GPT to go
    on with texts. DIR receives the model, metrics.json and training_config.json. A run that was
    interrupted goes on by the same command with --resume.
    """
    if preset is not None and size is not None:
        raise click.UsageError(
            "--preset goes on with a checkpoint and --size begins a new model; give one of them."
        )
    if preset is None and size is None:
        raise click.UsageError("Name a checkpoint with --preset, or a --size to begin anew.")
    if vocab is not None and preset is not None:
        raise click.UsageError("--vocab goes with --size; a checkpoint has its vocabulary.")
    if cased and vocab is None:
        raise click.UsageError("--cased goes with --vocab; shards and models know their case.")
    settings = settings_of(PretrainConfig, config, options)
    from kerazoo.training.pretrain import pretrain as run
    from kerazoo.training.pretrain import summary
    from kerazoo.training.progress import Progress

    result = run(
        data,
        output,
        settings,
        preset=preset,
        size=size,
        vocabulary=vocab,
        lowercase=not cased,
        validation=validation,
        tensorboard=tensorboard,
        resume=resume,
        strategy=strategy,
        dry_run=dry_run,
        data_service=data_service,
        progress=Progress(quiet),
    )
    if as_json:
        click.echo(json.dumps({"output": output, **result.metrics}, ensure_ascii=False))
        return
    if dry_run or result.folder != Path(output):
        return  # nothing was written, or another process writes it
    seconds = result.metrics["seconds"]
    click.echo(
        f"{summary(result.metrics)}, after {seconds:.0f} s. Model, metrics and settings: {output}"
    )
