"""The entry point: commands that are imported when they are asked for, and one error handler."""

import importlib
import os
import signal
import sys
from typing import Any

import click

from kerazoo.cli.failure import DEBUG, Failure, one_sentence

# The words stand here too, so that listing the commands imports none of them.
COMMANDS = {
    "zoo": "List families, named sizes and tasks.",
    "show": "Say what a saved model is.",
    "vocab": "Make a vocabulary for a corpus.",
    "prepare": "Tokenise a corpus into rows for pre-training.",
    "pretrain": "Train a model on texts without labels.",
    "data-service": "Prepare batches for a training on another machine.",
    "finetune": "Train a checkpoint for a task, on labelled rows.",
    "evaluate": "Measure a model on labelled rows.",
    "predict": "Answer texts as JSON lines.",
    "convert": "Turn one checkpoint format into another.",
    "export": "Export a model for TensorFlow Serving.",
    "verify": "Say whether TensorFlow Serving would serve an export.",
    "attention": "Show what the heads of a model look at.",
    "probe": "Measure what a linear classifier reads off each layer.",
}

INTERRUPTED = 128 + 2
READER_GONE = 128 + 13


class KerazooCommand(click.Group):
    """A group whose commands are modules of this package, and which says errors in a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of a model's life."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; its module has a command of the module's name."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        return getattr(importlib.import_module(f"kerazoo.cli.{name}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; any failure becomes one sentence and an exit code."""
        from kerazoo.cli.quiet import quiet_frameworks

        try:
            with quiet_frameworks(lambda: bool(ctx.meta.get(DEBUG))):
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _close_standard_output()
            raise click.exceptions.Exit(READER_GONE) from None
        except Exception as error:
            if ctx.meta.get(DEBUG):
                raise
            raise Failure(one_sentence(error)) from error


def _close_standard_output() -> None:
    """Point standard output nowhere, so that Python's last flush finds no broken pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _show_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Print the version and leave."""
    if value:
        from kerazoo import __version__

        click.echo(f"kerazoo {__version__}")
        ctx.exit()


@click.command(
    cls=KerazooCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Print the version.",
)
def kerazoo() -> None:
    """BERT and GPT for Keras 3: from a checkpoint to a served answer.

    A model is a folder: a kerazoo preset, a Hugging Face folder, Google's TF1 checkpoint, a handle
    hf://organisation/name, or (to evaluate, predict, show and verify) an exported SavedModel.
    """


def _terminate(number: int, frame: object) -> None:
    """Leave as after an error, so that unfinished folders are removed."""
    click.echo("Terminated.", err=True)
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminate)
    kerazoo(prog_name="kerazoo")
