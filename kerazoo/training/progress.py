"""What a long job tells its user: messages and progress bars, on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, str], None]
"""Moves a bar on by a number of units and replaces the words behind it."""


class Progress:
    """Messages and bars on standard error.

    Bars need a terminal; in a log file or a pipe only the messages appear.

    Args:
        quiet: bool, say nothing at all.
        bars: bool, show bars; a job that writes to the same terminal would write into them.
    """

    def __init__(self, quiet: bool = False, bars: bool = True) -> None:
        """Look at standard error."""
        self.quiet = quiet
        self.shows_bars = bars and not quiet and sys.stderr.isatty()

    def say(self, message: str) -> None:
        """Print a message."""
        if not self.quiet:
            print(message, file=sys.stderr, flush=True)

    @contextmanager
    def bar(self, words: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar while the block runs.

        Args:
            words: what is going on.
            total: units of the whole job; None if it is not known.

        Yields:
            A function that moves the bar: `advance(units, words_behind)`.
        """
        if not self.shows_bars:
            yield lambda units, behind: None
            return
        from rich import progress as rich_progress
        from rich.console import Console

        columns = (
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.MofNCompleteColumn(),
            rich_progress.TimeElapsedColumn(),
            rich_progress.TimeRemainingColumn(),
            rich_progress.TextColumn("{task.fields[behind]}", markup=False),
        )
        with rich_progress.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(words, total=total, behind="")
            yield lambda units, behind: bars.update(task, advance=units, behind=behind)


SILENT = Progress(quiet=True)
"""Says nothing: the default of every function that is called from Python."""
