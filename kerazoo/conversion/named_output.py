"""Errors of writing, said with the name that a person gave instead of a temporary one."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NO_SPACE = os.strerror(errno.ENOSPC)
_FREE_SOME = f"{_NO_SPACE}. Free some, or choose another output"


@contextmanager
def named_output(path: str | Path) -> Iterator[None]:
    """Name the output where an error in the block names none, or a hidden part of it.

    Args:
        path: the folder or file that the block writes.

    Raises:
        OSError: with `path` as its file name, if the disk is full or something hidden in the output
            or beside it cannot be written. Other errors pass.
    """
    try:
        yield
    except Exception as error:
        # HDF5, safetensors and TensorFlow each say it in lines of their own.
        is_hidden = isinstance(error, OSError) and _is_hidden(error.filename, Path(path))
        if getattr(error, "strerror", None) == _FREE_SOME and not is_hidden:
            raise  # it names another output, which was written within this block
        if _NO_SPACE in str(error):
            raise OSError(errno.ENOSPC, _FREE_SOME, str(path)) from error
        if isinstance(error, OSError) and is_hidden:
            raise cannot_write(error, path) from error
        raise


def cannot_write(error: OSError, path: str | Path) -> OSError:
    """Return an error that names the output.

    Args:
        error: what the system said.
        path: the folder or file that was to be written.
    """
    words = f"Nothing can be written there ({error.strerror}). Choose another output"
    return type(error)(error.errno, words, str(path))


def _is_hidden(filename: object, output: Path) -> bool:
    """Return whether a file is a hidden one in the output, or is or lies in one beside it."""
    if not isinstance(filename, str):
        return False
    file = Path(filename)
    if file.is_relative_to(output):
        return any(part.startswith(".") for part in file.relative_to(output).parts)
    return any(
        part.parent == output.parent and part.name.startswith(f".{output.name}.")
        for part in (file, *file.parents)
    )
