"""`kerazoo finetune`: train a task on rows of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kerazoo.cli.options import (
    OutputPath,
    debug_option,
    json_option,
    quiet_option,
    settings_from,
    settings_options,
    strategy_options,
)
from kerazoo.training.counted import counted


@click.group()
def finetune() -> None:
    """Train a checkpoint for a task, on labelled rows."""


def _training_command(task_name: str, files: str) -> Callable[..., Any]:
    """Return a decorator: the command of a task with the options that all of them have."""

    def decorate(function: Callable[..., Any]) -> Any:
        added = (debug_option, quiet_option, json_option, settings_options(task_name))
        for option in (*added, strategy_options):
            function = option(function)
        for flag, words, options in reversed(
            (
                ("--preset", "Checkpoint to begin with.", {"required": True, "metavar": "MODEL"}),
                ("--train", files, {"required": True, "metavar": "FILE"}),
                ("--validation", "Rows to measure on.", {"metavar": "FILE"}),
                (
                    "--output",
                    "Folder to create.",
                    {"required": True, "type": OutputPath(), "metavar": "DIR"},
                ),
                ("--resume", "Go on with an unfinished run in --output.", {"is_flag": True}),
                ("--tensorboard", "Folder for TensorBoard's logs.", {"metavar": "DIR"}),
            )
        ):
            function = click.option(flag, help=words, **options)(function)
        return finetune.command(task_name)(function)

    return decorate


@_training_command("text-classification", "Labelled rows: .tsv, .csv, .jsonl.")
def text_classification(**options: Any) -> None:
    """Train one label for each text, or for each pair of texts.

    Files have the columns text, perhaps text_pair, and label; .gz is read too, and - is standard
    input. DIR receives the model, metrics.json and training_config.json when the run is complete.
    """
    _run("text-classification", **options)


@_training_command("text-similarity", "Labelled pairs: .tsv, .csv, .jsonl.")
def text_similarity(**options: Any) -> None:
    """Train how two texts relate: one of several labels, or a score.

    Files have the columns text, text_pair and label; .gz is read too, and - is standard input. GPT
    reads both orders of a pair. DIR receives the model, metrics.json and training_config.json.
    """
    _run("text-similarity", **options)


@_training_command("multiple-choice", "Rows with choices: .jsonl.")
def multiple_choice(**options: Any) -> None:
    """Train to choose one of several answers.

    Each line of a file is a JSON object with context, perhaps question, choices (a list) and label,
    the number of the right choice from 0. DIR receives the model, metrics.json and
    training_config.json.
    """
    _run("multiple-choice", **options)


@_training_command("extractive-qa", "Questions: .json (SQuAD, CMRC 2018), .jsonl.")
def extractive_qa(**options: Any) -> None:
    """Train to find the part of a passage that answers a question.

    Files are SQuAD's JSON, v1 or v2, CMRC 2018's, or JSON lines with context, question and answers,
    or answer and answer_start (in characters); each answer is checked against its context. Long
    passages are read in overlapping windows. DIR receives the model, metrics.json and
    training_config.json.
    """
    _run("extractive-qa", **options)


@_training_command(
    "token-classification", "Words with tags: .conll, .tsv, .txt, .jsonl; texts with spans: .jsonl."
)
def token_classification(**options: Any) -> None:
    """Train a tag for each word, such as which entity it belongs to.

    Files have a word and its tag a line, in the first and the last column, and a blank line between
    sentences; or they are JSON lines with words and tags, or with text and entities (start, end,
    type, in characters). Long texts are read in overlapping windows. DIR receives the model,
    metrics.json and training_config.json.
    """
    _run("token-classification", **options)


@_training_command("masked-lm", "Texts: .txt (one a line), or text of .tsv, .csv, .jsonl.")
def masked_lm(**options: Any) -> None:
    """Go on with masked-language modelling, on texts of your own.

    A share of each text's tokens is masked, other ones in every epoch; in validation always the
    same. DIR receives the model, metrics.json and training_config.json.
    """
    _run("masked-lm", **options)


@_training_command("next-sentence", "Labelled pairs: .tsv, .csv, .jsonl.")
def next_sentence(**options: Any) -> None:
    """Train whether the second text of a pair follows the first.

    Files have the columns text, text_pair and label: next (or 0) if it follows, random (or 1) if it
    comes from elsewhere. DIR receives the model, metrics.json and training_config.json.
    """
    _run("next-sentence", **options)


@_training_command("bert-pretraining", "Labelled pairs: .tsv, .csv, .jsonl.")
def bert_pretraining(**options: Any) -> None:
    """Train masked words and next sentences together, on pairs of your own.

    Files are those of next-sentence. From a corpus without pairs, use prepare and pretrain.
    """
    _run("bert-pretraining", **options)


@_training_command("causal-lm", "Texts: .txt (one a line), or text of .tsv, .csv, .jsonl.")
def causal_lm(**options: Any) -> None:
    """Train a language model to go on as the texts do.

    Texts are joined by the end token and cut into rows of --sequence-length tokens, so none is
    truncated. DIR receives the model, metrics.json and training_config.json.
    """
    _run("causal-lm", **options)


def _run(
    task_name: str,
    preset: str,
    train: str,
    validation: str | None,
    output: str,
    resume: bool,
    tensorboard: str | None,
    strategy: str,
    dry_run: bool,
    config: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Train, and say what came of it."""
    from kerazoo.training.finetune import finetune as run
    from kerazoo.training.forms.registry import form_of
    from kerazoo.training.progress import Progress

    settings = settings_from(config, options)
    result = run(
        *(task_name, preset, train, validation, output, settings, Progress(quiet)),
        resume=resume,
        tensorboard=tensorboard,
        strategy=strategy,
        dry_run=dry_run,
    )
    metrics = result.metrics
    if as_json:
        click.echo(json.dumps({"output": output, **metrics}, ensure_ascii=False))
        return
    if dry_run or result.folder != Path(output):
        return  # nothing was written, or another process writes it
    click.echo(
        f"{form_of(task_name).summary(metrics)} on "
        f"{counted(metrics['validation_rows'], 'validation row')} "
        f"after {metrics['seconds']:.0f} s. Model, metrics and settings: {output}"
    )
