"""Keep TensorFlow's and Keras's own notices off the screen; pass kerazoo's warnings on."""

import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kerazoo.cli.quiet_import import quiet_import

_PACKAGE = Path(__file__).resolve().parent.parent
_LOGGERS = ("tensorflow", "absl", "jax")


@contextmanager
def quiet_frameworks(debug: Callable[[], bool]) -> Iterator[None]:
    """Run a command without the notices of the libraries below.

    Call it before TensorFlow is imported, which reads its settings once.

    Args:
        debug: says whether everything is to be shown after all; asked when a warning comes.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings(), quiet_import("tensorflow", debug):
        shown_before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: object = None,
            line: str | None = None,
        ) -> None:
            if debug():
                shown_before(message, category, filename, lineno)
            elif Path(filename).is_relative_to(_PACKAGE):
                click.echo(f"Note: {message}", err=True)

        warnings.simplefilter("default")
        warnings.showwarning = show
        yield
