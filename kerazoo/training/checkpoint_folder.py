"""Which checkpoints lie in a folder. Importing this imports no framework."""

from collections.abc import Collection
from pathlib import Path

_PATTERN = "step-*.safetensors"
_UNFINISHED_PATTERN = "step-*.part"


def checkpoint_name(step: int) -> str:
    """Return the name of the checkpoint after a step."""
    return f"step-{step:09d}.safetensors"


def checkpoint_files(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, the last one last."""
    return sorted(folder.glob(_PATTERN))


def remove_checkpoints(folder: Path, step: int, keep: int, best: Collection[int]) -> None:
    """Remove all checkpoints but the last ones and the best.

    Those of later steps than the last one are damaged, and the run has passed over them.

    Args:
        folder: where they lie.
        step: int, of the last one.
        keep: int, so many of the last ones stay.
        best: steps whose checkpoint stays too.
    """
    last = checkpoint_name(step)
    written = [file.name for file in checkpoint_files(folder) if file.name <= last]
    kept = {*written[-keep:], *map(checkpoint_name, best)}
    for file in checkpoint_files(folder):
        if file.name not in kept:
            file.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what a process that was killed while it wrote a checkpoint has left."""
    for file in folder.glob(_UNFINISHED_PATTERN):
        file.unlink(missing_ok=True)
