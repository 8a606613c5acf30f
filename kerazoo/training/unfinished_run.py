"""The output folder of a training run until it is complete: what it was begun with, checkpoints."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.new_folder import check_is_free
from kerazoo.training.checkpoint import checkpoint_files

UNFINISHED_FOLDER = ".unfinished"
_RUN_FILE = "run.json"


class UnfinishedRun:
    """Looks at an output folder, begins a run there or takes one up.

    Args:
        output: the folder. It must be empty or not there, or, to resume, hold an unfinished run.
        resume: bool, go on with the unfinished run in the folder, if there is one.

    Attributes:
        folder: where checkpoints lie.
        is_resumed: bool, whether there was an unfinished run.

    Raises:
        FileExistsError: if the folder holds something else.
    """

    def __init__(self, output: str | Path, resume: bool) -> None:
        """Look at the folder; nothing is written."""
        self.output = Path(output)
        self.folder = self.output / UNFINISHED_FOLDER
        self._run_file = self.folder / _RUN_FILE
        self.is_resumed = self._run_file.is_file()
        if self.is_resumed and not resume:
            raise FileExistsError(
                "The folder holds an unfinished run. Go on with it by --resume, remove the folder, "
                f"or choose another output. Received: output={str(self.output)!r}"
            )
        if not self.is_resumed:
            check_is_free(self.output)

    def begin(self, description: dict[str, Any]) -> None:
        """Create the folder, or check that the unfinished run is the same one.

        Args:
            description: all that decides what the run does; JSON.

        Raises:
            ValueError: if the unfinished run has another setting; the message names it.
        """
        if self.is_resumed:
            self._check(read_json_object(self._run_file), json.loads(json.dumps(description)))
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self._run_file.with_name(f"{_RUN_FILE}.{os.getpid()}")
        temporary.write_text(json.dumps(description, indent=2), encoding="utf-8")
        os.replace(temporary, self._run_file)

    def finish(self) -> None:
        """Remove what only an unfinished run has."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep_if_saved(self) -> bool:
        """Return whether there is a checkpoint to go on with after an error; else remove all."""
        if self.folder.is_dir() and not checkpoint_files(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not any(self.output.iterdir()):
                self.output.rmdir()
        return self.folder.is_dir()

    def _check(self, begun: dict[str, Any], now: dict[str, Any]) -> None:
        for name in now:
            if begun.get(name) != now[name]:
                raise ValueError(
                    "The unfinished run in the folder was begun with something else. Give the same "
                    "options, or choose another output. "
                    f"Received: {name}={now[name]!r} instead of {begun.get(name)!r}"
                )
