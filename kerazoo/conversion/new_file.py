"""A file that appears whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kerazoo.conversion.named_output import named_output
from kerazoo.conversion.new_folder import check_no_file_on_the_way, make_parent


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Yield the name of a temporary file that gets its final name when the block ends well.

    Args:
        path: the file to create; there must be nothing of this name.

    Raises:
        FileExistsError: if there is something at the path already.
        NotADirectoryError: if the path leads through a file.
        OSError: if it cannot be written; the message names the path.
    """
    final = Path(path)
    with _temporary_file(final) as temporary:
        yield temporary
        os.replace(temporary, final)


def check_can_be_created(path: str | Path) -> None:
    """Raise unless `new_file` can begin: what cannot be written is told before long work.

    The folder that the file is to be in is created.

    Args:
        path: the file to create.

    Raises:
        FileExistsError: if there is something at the path already.
        NotADirectoryError: if the path leads through a file.
        OSError: if it cannot be written; the message names the path.
    """
    with _temporary_file(Path(path)):
        pass


def check_is_no_file(path: Path) -> None:
    """Raise FileExistsError if there is a file or a folder at the path.

    Raises:
        NotADirectoryError: if the path leads through a file.
    """
    check_no_file_on_the_way(path)
    if path.exists():
        what = "folder" if path.is_dir() else "file"
        raise FileExistsError(
            f"There is a {what} of this name already; nothing was written. Choose another name, "
            f"or remove it. Received: path={str(path)!r}"
        )


@contextmanager
def _temporary_file(final: Path) -> Iterator[Path]:
    """Yield an empty file beside `final`, which is removed unless the block renames it."""
    check_is_no_file(final)
    with named_output(final):
        make_parent(final)
        # The ending stays, as libraries choose a format by it.
        temporary = final.with_name(f".{final.name}.{os.getpid()}{final.suffix}")
        try:
            temporary.touch()  # what cannot be written is said before the work
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)
