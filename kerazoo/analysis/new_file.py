"""A file that appears whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file that takes the place of `path` when the block ends without error.

    Args:
        path: the file; its folder is created if it does not exist.

    Raises:
        IsADirectoryError: if there is a folder at the path.
        NotADirectoryError: if the path leads through a file.
    """
    final = Path(path)
    check_can_be_written(final)
    final.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays, as libraries choose a format by it.
    handle, name = tempfile.mkstemp(prefix=f".{final.stem}.", suffix=final.suffix, dir=final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def check_can_be_written(path: str | Path) -> None:
    """Raise the errors of `new_file` before the work that makes its content."""
    final = Path(path)
    if final.is_dir():
        raise IsADirectoryError(
            f"The output is a folder, and a file is to be written. Name a file in it. "
            f"Received: path={str(path)!r}"
        )
    for parent in final.parents:
        if parent.exists() and not parent.is_dir():
            raise NotADirectoryError(
                f"{parent} is a file, so nothing can be written in it. Choose another output. "
                f"Received: path={str(path)!r}"
            )
