"""The whole state of a training run in files of which each is there whole or not at all."""

import dataclasses
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kerazoo.training.checkpoint_file import Stored, StoredVariables, write_variables
from kerazoo.training.checkpoint_folder import (
    checkpoint_files,
    checkpoint_name,
    remove_checkpoints,
)

_PATHS = "paths"
_POSITION = "position"


@dataclasses.dataclass(frozen=True)
class Position:
    """How far a run is, and what was said of it.

    Args:
        step: int, the batches that were trained on; with the seed, the position in the data.
        history: for each evaluation what was measured; JSON.
        best: the step of the best evaluation so far, with its score; None if there was none.
        run: what the run was begun with: all settings that decide what it does; JSON.
    """

    step: int
    history: list[dict[str, Any]]
    best: dict[str, Any] | None = None
    run: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was found to be whole.

    Args:
        position: how far the run was.
        stored: the values of all variables, in the order in which they were given.
        paths: their names.
    """

    position: Position
    stored: StoredVariables
    paths: list[str]

    def restore(self, variables: Sequence[keras.Variable]) -> list[np.ndarray]:
        """Give variables their values, the first ones that are stored.

        Returns:
            The other values.

        Raises:
            ValueError: if the model is another one.
        """
        for number, variable in enumerate(variables):
            is_there = number < len(self.stored)
            same = is_there and self.stored.shape(number) == tuple(variable.shape)
            if not same or _kind(self.paths[number]) != _kind(variable.path):
                raise ValueError(
                    "The checkpoint is one of another model. Begin anew in another folder. "
                    f"Received: {variable.path} of shape {tuple(variable.shape)}"
                )
            variable.assign(self.stored.value(number))
        return [self.stored.value(number) for number in range(len(variables), len(self.stored))]


def write_checkpoint(
    folder: Path,
    position: Position,
    variables: Sequence[Stored],
    keep: int = 2,
    finite: int = 0,
) -> Path:
    """Write a checkpoint; an interruption at any moment leaves the ones before it as they were.

    The last ones stay, and that of the best evaluation.

    Args:
        folder: where the checkpoints of the run lie.
        position: how far the run is.
        variables: all that the next step depends on: weights, states of random numbers, the
            optimizer's slots and counter, the sums of metrics.
        keep: int, checkpoints that stay.
        finite: int, so many of the variables, the first ones, must hold finite numbers.

    Returns:
        The file.

    Raises:
        OSError: if the disk is full or may not be written to.
        ValueError: if a weight is not finite.
    """
    file = folder / checkpoint_name(position.step)
    temporary = folder / f"{file.name}.{os.getpid()}.part"
    metadata = {
        _POSITION: json.dumps(dataclasses.asdict(position)),
        _PATHS: json.dumps([variable.path for variable in variables]),
    }
    try:
        try:
            write_variables(temporary, variables, metadata, finite)
            os.replace(temporary, file)
            _flush(folder)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        words = (
            f"The checkpoint could not be written ({error.strerror}); those before it are as they "
            "were. Mend it, and go on with --resume"
        )
        raise type(error)(error.errno, words, str(file)) from error
    best = [] if position.best is None else [position.best["step"]]
    remove_checkpoints(folder, position.step, keep, best)
    return file


def read_checkpoint(
    folder: Path, say: Callable[[str], None] = lambda sentence: None
) -> Checkpoint | None:
    """Return the last checkpoint of a run that is not damaged; None if none was written yet.

    Args:
        folder: where the checkpoints of the run lie.
        say: is told of a damaged one.

    Raises:
        ValueError: if there are some and all are damaged.
    """
    files = checkpoint_files(folder)
    for file in reversed(files):
        try:
            checkpoint = read_checkpoint_file(file)
        except (OSError, ValueError) as error:
            if file != files[0]:
                say(f"{error}. It is passed over, for the one before it.")
        else:
            return checkpoint
    if files:
        raise ValueError(
            "All checkpoints of the run are damaged, so it cannot be gone on with. Put a copy of "
            "one there, or remove the folder to begin anew. "
            f"Received: {', '.join(file.name for file in files)} in {str(folder)!r}"
        )
    return None


def read_checkpoint_file(file: Path) -> Checkpoint:
    """Return a checkpoint.

    Raises:
        OSError: if the file is not there, or cannot be read.
        ValueError: if it is damaged.
    """
    stored = StoredVariables(file)
    position = Position(**json.loads(stored.metadata[_POSITION]))
    return Checkpoint(position, stored, json.loads(stored.metadata[_PATHS]))


def _kind(path: str) -> str:
    """Return a variable's name without the numbers that Keras gives in the order of creation."""
    return re.sub(r"_\d+(?=[/_]|$)", "", path)


def _flush(folder: Path) -> None:
    """Have the disk keep the names in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
