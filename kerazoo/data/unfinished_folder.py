"""A folder of shards while it is made: begun, gone on with after an interruption, finished."""

import dataclasses
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.new_folder import check_is_free
from kerazoo.data.manifest import MANIFEST_FILE, UNFINISHED_FOLDER, Manifest, TokenizerDescription
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.shard import Counts, Shard
from kerazoo.data.shard_writer import corpus_changed, read_shard, write_whole

_RUN_FILE = "run.json"


class UnfinishedFolder:
    """Begins a folder of shards, or takes up one that an equal run left unfinished.

    Args:
        path: the folder. It must be empty or not there, or hold an unfinished run.
        tokenizer: the tokenizer, which is saved in it.
        settings: see `PrepareSettings`.

    Attributes:
        path: the folder.
        is_resumed: bool, whether there was an unfinished run.

    Raises:
        FileExistsError: if the folder holds something else, or is complete.
        ValueError: if the unfinished run has other settings or another tokenizer.
    """

    def __init__(self, path: str | Path, tokenizer: Any, settings: PrepareSettings) -> None:
        """Look at the folder and begin."""
        self.path = Path(path)
        self._settings = settings
        self._tokenizer = TokenizerDescription.of(tokenizer)
        self._run_file = self.path / UNFINISHED_FOLDER / _RUN_FILE
        run = {
            "settings": dataclasses.asdict(settings),
            "tokenizer": dataclasses.asdict(self._tokenizer),
        }
        self._check_is_not_complete()
        self.is_resumed = self._run_file.is_file()
        if self.is_resumed:
            self._check_run(run)
            return
        self._begin(run, tokenizer)

    def _begin(self, run: dict[str, Any], tokenizer: Any) -> None:
        if not self._run_file.parent.is_dir():
            check_is_free(self.path)
        self._run_file.parent.mkdir(parents=True, exist_ok=True)
        tokenizer.save_to_preset(str(self.path))
        # Last: without this file there is nothing to go on with.
        write_whole(self._run_file, json.dumps(run))

    def finish(self, shards: Iterable[Shard]) -> Manifest:
        """Write the manifest and remove what only an unfinished folder has.

        Args:
            shards: all shards.

        Raises:
            ValueError: if there are more of an earlier run.
        """
        ordered = sorted(shards, key=lambda shard: shard.name)
        if read_shard(self.path, len(ordered)) is not None:
            raise corpus_changed(self.path)
        counts = sum((shard.counts for shard in ordered), Counts())
        manifest = Manifest(self._settings, self._tokenizer, counts, tuple(ordered))
        write_whole(self.path / MANIFEST_FILE, manifest.as_json())
        shutil.rmtree(self._run_file.parent, ignore_errors=True)
        return manifest

    def remove_if_nothing_is_finished(self) -> None:
        """Remove the folder after an error, unless a shard is worth keeping."""
        if not any(self._run_file.parent.glob("*.tfrecord.json")):
            shutil.rmtree(self.path, ignore_errors=True)

    def _check_is_not_complete(self) -> None:
        if (self.path / MANIFEST_FILE).exists():
            raise FileExistsError(
                "The folder holds shards that are complete, so there is nothing to go on with; "
                "nothing was written. Remove the folder to make them anew, or choose another "
                f"output. Received: output={str(self.path)!r}"
            )

    def _check_run(self, run: dict[str, Any]) -> None:
        begun = read_json_object(self._run_file)
        for part, fields in run.items():
            for name, now in fields.items():
                before = begun.get(part, {}).get(name)
                if before != now:
                    raise ValueError(
                        f"The folder holds an unfinished run of another {name}. Run it with the "
                        "same settings, remove the folder, or choose another output. "
                        f"Received: {name}={now!r} instead of {before!r} in {str(self.path)!r}"
                    )
