"""A training run on devices that train together: what each process opens, says and writes."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kerazoo.training.distribution import Distribution, from_name, processes_of
from kerazoo.training.dry_run import dry_run_of
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.settings import NO_STRATEGY
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

    Args:
        strategy: see `kerazoo.training.distribution.from_name`.
        output: see `UnfinishedRun`.
        resume: see `UnfinishedRun`.
        progress: is told of the devices.
        dry: bool, open a dry run; see `kerazoo.training.dry_run`.

    Raises:
        Exception: see `from_name` and `UnfinishedRun`.
        ValueError: if several processes are to go on with a run.
    """
    if resume and not dry and (processes := processes_of(strategy)) > 1:
        raise ValueError(
            "Several processes cannot go on with a run, as each would have to have the same "
            "checkpoint; begin anew with --preset, or go on with one process. "
            f"Received: resume=True with strategy={strategy!r}, {processes} processes"
        )
    devices = dry_run_of(strategy) if dry else from_name(strategy)
    progress = progress if devices.is_chief else SILENT
    if devices.name != NO_STRATEGY:
        progress.say(f"Training on {devices.description}.")
    with _folder(devices.is_chief and not dry, output) as folder:
        with UnfinishedRun.opened(folder, resume, progress.say) as run, devices.scope():
            yield OpenRun(devices, run, progress)


@contextmanager
def _folder(is_kept: bool, output: str | Path) -> Iterator[Path]:
    """Give what is kept the output, and the rest a folder for the time of the run."""
    if is_kept:
        yield Path(output)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "output"
