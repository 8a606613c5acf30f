"""`kerazoo export`: a SavedModel that takes raw text, for TensorFlow Serving."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from kerazoo.cli.options import OutputPath, debug_option, json_option, quiet_option

# What one instance of a request looks like.
_EXAMPLES: dict[str, Any] = {
    "text-classification": "some text",
    "text-similarity": {"text": "some text", "text_pair": "another"},
    "multiple-choice": {"context": "some text", "question": "", "choices": ["one", "another"]},
    "extractive-qa": {"question": "a question?", "context": "some text"},
    "token-classification": "some text",
    "masked-lm": "some [MASK] text",
    "bert-pretraining": "some [MASK] text",
    "causal-lm": "some text",
}


@click.command()
@click.argument("model")
@click.option(
    "--output",
    required=True,
    type=OutputPath(),
    metavar="DIR",
    help="The model's folder; its name serves.",
)
@click.option(
    "--verify/--no-verify", "verifies", default=True, help="Check the export. [default: yes]"
)
@click.option(
    "--pairs/--single",
    default=None,
    help="Ask for text_pair too. [default: as the model was trained; Hugging Face's: single]",
)
@json_option
@quiet_option
@debug_option
def export(
    model: str, output: str, verifies: bool, pairs: bool | None, as_json: bool, quiet: bool
) -> None:
    """Export MODEL as the next free version in DIR.

    The SavedModel takes raw text and holds the tokenizer and the label names. It is verified as
    `kerazoo verify` does; the exit code is 1 if stock TensorFlow Serving would not serve it.
    """
    from kerazoo.training.progress import Progress

    result = export_model(model, output, verifies, Progress(quiet), pairs)
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False))
    else:
        click.echo(_as_text(result, Path(output).absolute()))
    if verifies and not result["verification"]["ok"]:
        raise click.exceptions.Exit(1)


def export_model(
    model: str, output: str, verifies: bool, progress: Any, pairs: bool | None = None
) -> dict[str, Any]:
    """Export a trained preset.

    Args:
        model: a kerazoo preset or a Hugging Face folder with a classifier.
        output: the base folder; the next free version is created in it.
        verifies: whether to verify the version.
        progress: a `kerazoo.training.progress.Progress`.
        pairs: whether the SavedModel asks for `text_pair`; None is as the model was trained.

    Returns:
        A dict of `path`, `task`, `pairs` and, if verified, `verification`.
    """
    if "keras" not in sys.modules:
        # A SavedModel is traced by TensorFlow; a preset is the same on every backend.
        os.environ["KERAS_BACKEND"] = "tensorflow"
    from kerazoo.export.saved_model import check_base_folder
    from kerazoo.training.preset_predictor import PresetPredictor

    check_base_folder(output)
    progress.say(f"Loading {model} …")
    predictor = PresetPredictor.from_preset(model)
    progress.say("Exporting …")
    if pairs is not None:
        if predictor.task_name != "text-classification":
            raise ValueError(
                "Only a text classifier reads single texts or pairs as one likes; leave --pairs "
                f"and --single out. Received: a model for {predictor.task_name}"
            )
        predictor.task.pairs = pairs
    path = predictor.task.export(output)
    result: dict[str, Any] = {
        "path": str(path),
        "task": predictor.task_name,
        "pairs": predictor.task.pairs,
    }
    if verifies:
        from kerazoo.export.verify import verify_saved_model

        progress.say("Verifying …")
        report = verify_saved_model(path)
        result["verification"] = report.to_dict()
        progress.say(str(report))
    return result


def _as_text(result: dict[str, Any], base: Path) -> str:
    """Return where the export is and how it is asked."""
    request = json.dumps(
        {"instances": [_EXAMPLES["text-similarity" if result["pairs"] else result["task"]]]}
    )
    volume = shlex.quote(f"{base}:/models/{base.name}:ro")
    name = shlex.quote(f"MODEL_NAME={base.name}")
    return (
        f"Exported: {result['path']}\n"
        f"Serve it:  docker run --rm -p 8501:8501 -v {volume} -e {name} tensorflow/serving\n"
        f"Ask it:    curl -d '{request}' http://localhost:8501/v1/models/{quote(base.name)}:predict"
    )
