"""The whole state of a training run in one file, which is there whole or not at all."""

import dataclasses
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

_PATTERN = "step-*.safetensors"
_PATHS = "paths"
_POSITION = "position"


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds.

    Args:
        step: int, the batches that were trained on; with the seed, the position in the data.
        values: the values of all variables, in the order in which they were given.
        paths: their names.
        history: what was said of the run until then.
    """

    step: int
    values: list[np.ndarray]
    paths: list[str]
    history: list[dict[str, Any]]

    def restore(self, variables: Sequence[keras.Variable]) -> None:
        """Give variables their values, the first ones of `values`.

        Raises:
            ValueError: if the model is another one.
        """
        for number, variable in enumerate(variables):
            stored = self.values[number] if number < len(self.values) else None
            same = stored is not None and stored.shape == tuple(variable.shape)
            if not same or _kind(self.paths[number]) != _kind(variable.path):
                raise ValueError(
                    "The checkpoint is one of another model. Begin anew in another folder. "
                    f"Received: {variable.path} of shape {tuple(variable.shape)}"
                )
            variable.assign(stored)


def write_checkpoint(
    folder: Path,
    step: int,
    variables: Sequence[keras.Variable],
    history: Sequence[dict[str, Any]],
    keep: int = 2,
) -> Path:
    """Write a checkpoint; an interruption at any moment leaves the ones before it as they were.

    Args:
        folder: where the checkpoints of the run lie.
        step: int, the batches that were trained on.
        variables: all that the next step depends on: weights, states of random numbers, the
            optimizer's slots and counter, the sums of metrics.
        history: what was said of the run until now; JSON.
        keep: int, checkpoints that stay.

    Returns:
        The file.

    Raises:
        OSError: if the disk is full or may not be written to.
    """
    file = folder / f"step-{step:09d}.safetensors"
    temporary = folder / f"{file.name}.{os.getpid()}.part"
    arrays = {f"{i:06d}": _to_array(variable) for i, variable in enumerate(variables)}
    position = {"step": step, "history": list(history)}
    metadata = {
        _POSITION: json.dumps(position),
        _PATHS: json.dumps([variable.path for variable in variables]),
    }
    try:
        try:
            save_file(arrays, temporary, metadata)
        except SafetensorError as error:
            raise OSError(f"{file} could not be written: {error}") from error
        _flush(temporary)
        os.replace(temporary, file)
        _flush(folder)
    finally:
        temporary.unlink(missing_ok=True)
    for old in checkpoint_files(folder)[:-keep]:
        old.unlink()
    return file


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the last checkpoint of a run; None if there is none yet.

    Raises:
        ValueError: if the file is damaged.
    """
    files = checkpoint_files(folder)
    if not files:
        return None
    try:
        with safe_open(files[-1], framework="np") as content:
            metadata = content.metadata()
            values = [content.get_tensor(name) for name in sorted(content.keys())]
        position = json.loads(metadata[_POSITION])
        paths = json.loads(metadata[_PATHS])
    except (SafetensorError, TypeError, KeyError, ValueError) as error:
        raise ValueError(
            f"The checkpoint {files[-1]} is damaged. Remove it to go on with the one before it, if "
            "there is one."
        ) from error
    return Checkpoint(position["step"], values, paths, position["history"])


def checkpoint_files(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, the last one last."""
    return sorted(folder.glob(_PATTERN))


def _kind(path: str) -> str:
    """Return a variable's name without the numbers that Keras gives in the order of creation."""
    return re.sub(r"_\d+(?=[/_]|$)", "", path)


def _to_array(variable: keras.Variable) -> np.ndarray:
    return np.asarray(keras.ops.convert_to_numpy(variable), order="C")


def _flush(path: Path) -> None:
    """Have the disk write what it was given; of a folder its list of names."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
