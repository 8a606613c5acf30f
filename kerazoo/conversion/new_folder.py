"""Folders whose files appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kerazoo.conversion.named_output import cannot_write, named_output


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder that gets its final name when the block ends without error.

    Args:
        path: the folder to create; it must not exist, or be empty.

    Raises:
        FileExistsError: if there is something at the path already.
        OSError: if it cannot be written; the message names the path.
    """
    final = Path(path)
    check_is_free(final)
    temporary = _temporary_folder(final)
    try:
        with named_output(final):
            yield temporary
            temporary.chmod(0o755)
            check_is_free(final)
            temporary.rename(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def updated_folder(path: str | Path) -> Iterator[Path]:
    """Yield a temporary folder whose files replace those of `path` when the block ends well.

    Other files in the folder stay. An error, a full disk or a kill while the block runs leaves the
    folder as it was; then the files are renamed one by one.

    Args:
        path: the folder to write to; it is created if it does not exist.
    """
    final = Path(path)
    temporary = _temporary_folder(final)
    try:
        with named_output(final):
            yield temporary
            for file in [file for file in temporary.rglob("*") if file.is_file()]:
                target = final / file.relative_to(temporary)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _temporary_folder(final: Path) -> Path:
    """Create a folder beside `final`, whose name an error then says."""
    make_parent(final)
    with named_output(final):
        return Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))


def make_parent(path: Path) -> None:
    """Create the folder that a path is in, and those around it.

    Raises:
        OSError: if that is not possible; the message names the path.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(error, path) from error


def check_is_free(path: Path) -> None:
    """Raise FileExistsError if there is a file or a folder that is not empty at the path.

    Raises:
        NotADirectoryError: if the path leads through a file.
    """
    check_no_file_on_the_way(path)
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists():
        raise FileExistsError(
            f"There is something at the output path already; nothing was written. Choose another "
            f"folder, or remove this one. Received: path={str(path)!r}"
        )


def check_no_file_on_the_way(path: Path) -> None:
    """Raise NotADirectoryError if the path leads through a file."""
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise NotADirectoryError(
                f"{parent} is a file, so no folder can be created in it; nothing was written. "
                f"Choose another output. Received: path={str(path)!r}"
            )
