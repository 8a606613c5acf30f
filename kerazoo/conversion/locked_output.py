"""An output that one process at a time writes to."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kerazoo.conversion.named_output import cannot_write, named_output
from kerazoo.conversion.new_folder import check_no_file_on_the_way

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def locked_output(path: str | Path) -> Iterator[None]:
    """Let no other process write to a path while the block runs.

    The lock is a file beside the path, which is removed at the end. The system gives the lock back
    when the process ends, however it ends, so a file that a killed process left blocks nobody.
    Where no file can be created beside a folder that exists, the folder itself is locked.

    Args:
        path: the folder or file that is to be written; it need not exist.

    Raises:
        BlockingIOError: if another process holds the lock; the message names it.
        NotADirectoryError: if the path leads through a file.
        OSError: if nothing can be written there; the message names the path.
    """
    output = Path(path)
    check_no_file_on_the_way(output)
    final = output.resolve()
    made = [parent for parent in final.parents if not parent.exists()]
    file = final.with_name(f".{final.name}.lock") if final.name else final
    descriptor = _locked(file, final, output)
    try:
        with named_output(output):
            yield
    finally:
        if _is_same_file(descriptor, file):
            file.unlink(missing_ok=True)
        os.close(descriptor)
        with suppress(OSError):  # as soon as one of them holds something
            for folder in made:
                folder.rmdir()


def _locked(file: Path, final: Path, output: Path) -> int:
    """Return the descriptor of a lock file that this process has locked."""
    while True:
        descriptor = _opened(file, final, output)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(descriptor)
            os.close(descriptor)
            raise BlockingIOError(
                f"The output is being written to by {holder}; nothing was written. Wait until that "
                f"has ended, or choose another output. Received: output={str(output)!r}"
            ) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                os.close(descriptor)
                raise
        if _is_same_file(descriptor, final):
            return descriptor
        if _is_same_file(descriptor, file):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
            return descriptor
        # Its holder removed the file between the two calls.
        os.close(descriptor)


def _opened(file: Path, final: Path, output: Path) -> int:
    try:
        with suppress(FileNotFoundError):
            return _created(file)
        # The holder of a lock removed the folder that it had made for it; or there never is one.
        return _created(file)
    except OSError as error:
        if final.is_dir():
            return os.open(final, os.O_RDONLY)
        raise cannot_write(error, output) from error


def _created(file: Path) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o644)


def _holder(descriptor: int) -> str:
    """Return which process wrote itself into a lock file."""
    with suppress(OSError):  # a folder has no content
        return os.pread(descriptor, 200, 0).decode("utf-8", "replace") or "another process"
    return "another process"


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
