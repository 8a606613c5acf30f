"""A training run on devices that train together: what each process opens, says and writes."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kerazoo.training.distribution import Distribution, from_name
from kerazoo.training.dry_run import dry_run_of
from kerazoo.training.meeting import Meeting
from kerazoo.training.process_exchange import exchange, is_lost_process, leave_without_the_others
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.settings import NO_STRATEGY
from kerazoo.training.shared_run import SharedRun
from kerazoo.training.unfinished_run import UnfinishedRun


class OpenRun(NamedTuple):
    """What a process of a run has.

    Attributes:
        devices: that train together.
        run: where the process writes; the folder of all but the first one is removed at the end.
        progress: where it shows how far the work is; only the first one says anything.
    """

    devices: Distribution
    run: UnfinishedRun
    progress: Progress


@contextmanager
def distributed_run(
    strategy: str, output: str | Path, resume: bool, progress: Progress, dry: bool = False
) -> Iterator[OpenRun]:
    """Open a run; models are made, loaded and trained on its devices while the block runs.

    Of several processes none begins if one cannot: each raises what that one says.

    Args:
        strategy: see `kerazoo.training.distribution.from_name`.
        output: see `UnfinishedRun`.
        resume: see `UnfinishedRun`.
        progress: is told of the devices.
        dry: bool, open a dry run; see `kerazoo.training.dry_run`.

    Raises:
        ConnectionError: if another process has ended.
        Exception: see `from_name`, `UnfinishedRun` and `SharedRun`.
    """
    devices = dry_run_of(strategy) if dry else from_name(strategy, progress.say)
    progress = progress if devices.is_chief else SILENT
    if devices.name != NO_STRATEGY:
        progress.say(f"Training on {devices.description}.")
    with _folder(devices.is_chief and not dry, output) as folder:
        if devices.processes == 1:
            with UnfinishedRun.opened(folder, resume, progress.say) as run, devices.scope():
                yield OpenRun(devices, run, progress)
        else:
            meeting = Meeting(partial(exchange, devices), devices.process)
            what = {"shared": Path(output), "meeting": meeting}
            shared = SharedRun.opened(folder, resume, progress.say, **what)
            with _together(devices, meeting), shared as run, devices.scope():
                yield OpenRun(devices, run, progress)


@contextmanager
def _together(devices: Distribution, meeting: Meeting) -> Iterator[None]:
    """Tell the other processes of an error before the first step, and say that one was lost."""
    try:
        try:
            yield
        except Exception as error:
            if not is_lost_process(error):
                meeting.excuse(error)
            raise
    except Exception as error:
        if not is_lost_process(error):
            raise
        leave_without_the_others()
        reason = " ".join(str(error).split())[:200]
        raise ConnectionError(
            f"Another one of the {devices.processes} processes has ended, or cannot be reached, so "
            "this one ends too. Look at what that one said, end what is left of it, and start all "
            f"of them again with --resume. Received: {reason}"
        ) from error


@contextmanager
def _folder(is_kept: bool, output: str | Path) -> Iterator[Path]:
    """Give what is kept the output, and the rest a folder for the time of the run."""
    if is_kept:
        yield Path(output)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "output"
