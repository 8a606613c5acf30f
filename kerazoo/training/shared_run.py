"""The output folder of a run of several processes, which all go on from one checkpoint."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.training.checkpoint_folder import checkpoint_files, checkpoint_name
from kerazoo.training.meeting import Meeting
from kerazoo.training.run_folder import RUN_FILE
from kerazoo.training.shared_stop_signals import SharedStopSignals
from kerazoo.training.stop_signals import StopSignals
from kerazoo.training.unfinished_run import UNFINISHED_FOLDER, UnfinishedRun

_COMPLETE, _STEP, _CHECKSUM = "complete", "step", "checksum"


class SharedRun(UnfinishedRun):
    """The first process writes to the folder and chooses the checkpoint; the others read it there.

    Each of the others writes to a folder of its own.

    Args:
        output: where this process writes.
        resume: see `UnfinishedRun`; of the other processes, whether they look for what the first
            one might not see.
        shared: the output folder of the run, as this process sees it.
        meeting: where the processes agree.
    """

    def __init__(self, output: str | Path, resume: bool, shared: Path, meeting: Meeting) -> None:
        """Look at the folder; nothing is written."""
        super().__init__(output, resume)
        self._resume = resume
        self._shared = shared
        self._meeting = meeting
        self._passed_over: list[str] = []
        self._agreed: Any = None

    def begin(
        self, description: dict[str, Any], defaults: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Begin or go on, once all processes have found that they can do it together.

        Args:
            description: see `UnfinishedRun.begin`.
            defaults: see `UnfinishedRun.begin`.

        Raises:
            Exception: see `UnfinishedRun.begin`.
            ValueError: if this process, or another one, does not find the first one's checkpoint in
                its folder, or finds it damaged, or one that was begun with something else.
        """
        super().begin(description, defaults)
        first = self._meeting.tell(self._found() if self._meeting.is_chief else {})[0]
        if not self._meeting.is_chief:
            self._find(first)
        self._meeting.tell({})
        self._meeting.is_over = True

    def last_checkpoint(self, say: Callable[[str], None]) -> Any:
        """Return the `Checkpoint` that all processes have found; None if there is none yet.

        Args:
            say: is told of damaged ones.
        """
        for sentence in self._passed_over:
            say(sentence)
        return self._agreed

    def stop_signals(self) -> StopSignals:
        """Return what notes signals while all processes train."""
        return SharedStopSignals(self._meeting.exchange)

    def _found(self) -> dict[str, Any]:
        """Return what the first process goes on from."""
        if self.is_complete:
            return {_COMPLETE: True}
        self._agreed = super().last_checkpoint(self._passed_over.append)
        if self._agreed is None:
            return {}
        return {_STEP: self._agreed.position.step, _CHECKSUM: self._agreed.stored.checksum}

    def _find(self, first: dict[str, Any]) -> None:
        """Find what the first process goes on from."""
        if first.get(_COMPLETE):
            self._find_complete()
        elif _STEP in first:
            self._find_checkpoint(first[_STEP], first[_CHECKSUM])
        elif self._resume:
            self._find_nothing()

    def _find_complete(self) -> None:
        file = self._shared / RUN_FILE
        if not file.is_file():
            raise ValueError(_not_shared(f"does not find {file.name} there", self._shared))
        self._check(read_json_object(file))
        self.is_complete = True
        self.output = self._shared

    def _find_checkpoint(self, step: int, checksum: str) -> None:
        from kerazoo.training.checkpoint import read_checkpoint_file

        file = self._shared / UNFINISHED_FOLDER / checkpoint_name(step)
        try:
            self._agreed = read_checkpoint_file(file)
        except FileNotFoundError as error:
            raise ValueError(
                _not_shared(f"does not find {UNFINISHED_FOLDER}/{file.name} there", self._shared)
            ) from error
        if self._agreed.stored.checksum != checksum:
            raise ValueError(
                _not_shared(f"finds another {UNFINISHED_FOLDER}/{file.name} there", self._shared)
            )
        self._check(self._agreed.position.run)

    def _find_nothing(self) -> None:
        files = [self._shared / RUN_FILE, *checkpoint_files(self._shared / UNFINISHED_FOLDER)]
        there = [file.name for file in files if file.is_file()]
        if there:
            raise ValueError(
                _not_shared(f"finds {', '.join(there)} there, and the first none", self._shared)
            )


def _not_shared(what: str, output: Path) -> str:
    return (
        "All processes go on from the checkpoint of the first one, so its output folder has to be "
        f"on a file system that all of them share; this one {what}. Received: "
        f"output={str(output)!r}"
    )
