"""The output folder of a training run until it is complete: what it was begun with, checkpoints."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.locked_output import locked_output
from kerazoo.conversion.new_folder import check_is_free
from kerazoo.training.checkpoint_folder import checkpoint_files, remove_unfinished
from kerazoo.training.run_folder import HISTORY_FILE, ROWS, RUN_FILE, VALIDATION_ROWS
from kerazoo.training.stop_signals import StopSignals

UNFINISHED_FOLDER = ".unfinished"
MAY_CHANGE = ("checkpoint_every", "keep_checkpoints", "on_non_finite")
"""Settings that may be others when a run is gone on with: they change nothing of what it learns."""
_ROWS_OF = {"train": ROWS, "data": ROWS, "validation": VALIDATION_ROWS}
"""The paths of data, which may be others where the rows are known to be the same."""


class UnfinishedRun:
    """Looks at an output folder, begins a run there or takes one up.

    Args:
        output: the folder. It must be empty or not there, or, to resume, hold an unfinished run, or
            one that is complete.
        resume: bool, go on with the unfinished run in the folder, if there is one.

    Attributes:
        folder: where checkpoints lie.
        is_resumed: bool, whether there was an unfinished run.
        is_complete: bool, whether the run in the folder was complete: there is nothing to do.
        description: what the run was begun with.
        defaults: what settings are of which an earlier version of kerazoo did not know.

    Raises:
        FileExistsError: if the folder holds something else.
    """

    def __init__(self, output: str | Path, resume: bool) -> None:
        """Look at the folder; nothing is written."""
        self.output = Path(output)
        self.folder = self.output / UNFINISHED_FOLDER
        self.description: dict[str, Any] = {}
        self.defaults: dict[str, Any] = {}
        self._is_begun = False
        self._run_file = self.folder / RUN_FILE
        self._complete_file = self.output / RUN_FILE
        is_complete = self._complete_file.is_file() and not self._run_file.is_file()
        # Every checkpoint says what the run was begun with, too.
        is_begun = self._run_file.is_file() or bool(checkpoint_files(self.folder))
        self.is_resumed = is_begun and not is_complete
        self.is_complete = is_complete and resume
        if self.is_resumed and not resume:
            raise FileExistsError(
                "The folder holds an unfinished run. Go on with it by --resume, remove the folder, "
                f"or choose another output. Received: output={str(self.output)!r}"
            )
        if not self.is_resumed and not self.is_complete and not self._was_hardly_begun():
            check_is_free(self.output)

    @classmethod
    @contextmanager
    def opened(
        cls, output: str | Path, resume: bool, say: Callable[[str], None], **more: Any
    ) -> Iterator[Self]:
        """Look at a folder to which no other process writes until the block ends.

        After an error in the block, what was begun is removed unless there is a checkpoint to go on
        with.

        Args:
            output: as in the constructor.
            resume: as in the constructor.
            say: is told that there is a checkpoint.
            more: further arguments of the constructor.

        Raises:
            BlockingIOError: if another process writes to the folder.
            FileExistsError: if the folder holds something else.
        """
        with locked_output(output):
            run = cls(output, resume, **more)
            try:
                yield run
            except BaseException:
                if run._keep_if_saved():
                    say("What was done is kept; the same command with --resume goes on with it.")
                raise

    def begin(
        self, description: dict[str, Any], defaults: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Create the folder, or check that the unfinished run is the same one.

        Args:
            description: all that decides what the run does; JSON.
            defaults: what a setting is of which the run in the folder did not know, as an earlier
                version of kerazoo began it.

        Raises:
            OSError: if the folder cannot be created.
            ValueError: if the run in the folder has other settings; the message names them.
        """
        self.description = json.loads(json.dumps(description))
        self.defaults = json.loads(json.dumps(dict(defaults)))
        if self.is_complete:
            self._check(read_json_object(self._complete_file))
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self.is_resumed:
            self._check_run_file()
            remove_unfinished(self.folder)
        else:
            self.make_folder()
        self._is_begun = not self.is_complete

    def make_folder(self) -> None:
        """Create the folder, also where somebody has removed it while the run goes on."""
        if self._run_file.is_file():
            return
        temporary = self._run_file.with_name(f"{RUN_FILE}.{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(self.description, indent=2), encoding="utf-8")
            os.replace(temporary, self._run_file)
        except OSError as error:
            words = f"The run cannot be kept there ({error.strerror}). Choose another output"
            raise type(error)(error.errno, words, str(self.folder)) from error

    def last_checkpoint(self, say: Callable[[str], None]) -> Any:
        """Return the `Checkpoint` to go on from; None if there is none yet.

        Args:
            say: is told of a damaged one, for which the one before is taken.

        Raises:
            ValueError: if all are damaged, or the one to go on from is of another run.
        """
        from kerazoo.training.checkpoint import read_checkpoint

        try:
            checkpoint = read_checkpoint(self.folder, say)
        except ValueError:
            self._is_begun = False  # nothing can be gone on with
            raise
        if checkpoint is not None:
            self._check(checkpoint.position.run)
            self.make_folder()  # its file may be lost
        return checkpoint

    def stop_signals(self) -> StopSignals:
        """Return what notes signals while the run trains."""
        return StopSignals()

    def finish(self) -> None:
        """Make the run a complete one, in one step, and remove what only an unfinished one has."""
        os.replace(self._run_file, self._complete_file)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _keep_if_saved(self) -> bool:
        if not self._is_begun:
            return False
        if self.folder.is_dir() and not checkpoint_files(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
            (self.output / HISTORY_FILE).unlink(missing_ok=True)
            if not any(self.output.iterdir()):
                self.output.rmdir()
        return self.folder.is_dir()

    def _was_hardly_begun(self) -> bool:
        """Return whether a process was killed between making the folder and its first file."""
        if not self.folder.is_dir() or checkpoint_files(self.folder):
            return False
        return [path.name for path in self.output.iterdir()] == [UNFINISHED_FOLDER]

    def _check_run_file(self) -> None:
        """Check what the run was begun with; if that is lost, checkpoints are checked alone."""
        try:
            begun = read_json_object(self._run_file)
        except (FileNotFoundError, ValueError):
            if not checkpoint_files(self.folder):
                raise
            self._run_file.unlink(missing_ok=True)
        else:
            self._check(begun)

    def _check(self, begun: dict[str, Any]) -> None:
        """Raise ValueError if what the run was begun with differs from what it is to be."""
        known = {**self.defaults, **begun}
        differences = [
            _difference(name, now, known.get(name))
            for name, now in self.description.items()
            if name not in MAY_CHANGE
            and known.get(name) != now
            and not (now and begun.get(name) and _ROWS_OF.get(name) in begun)
        ]
        if differences:
            raise ValueError(
                "The run in the folder was begun with something else. Give the same "
                f"options (only {', '.join(MAY_CHANGE)} may be others, and where the same data "
                f"lie), or choose another output. Received: {', '.join(differences)}"
            )


def _difference(name: str, now: Any, begun: Any) -> str:
    if name == ROWS:
        return "other rows in the data than it was begun with"
    if name == VALIDATION_ROWS:
        return "other rows in the validation data than it was begun with"
    return f"{name}={now!r} instead of {begun!r}"
