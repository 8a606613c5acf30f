"""Open a text file, a ``.gz`` file or standard input, and give its lines with their numbers."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from kerazoo.checks import check_one_of

STANDARD_INPUT = "-"
STRICT = "strict"
REPLACE = "replace"
ERRORS = (STRICT, REPLACE)
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def source_name(path: str) -> str:
    """Return what an error message calls `path`."""
    return "standard input" if path == STANDARD_INPUT else path


def source_lines(path: str, errors: str = STRICT) -> Iterator[tuple[int, str]]:
    r"""Yield the lines of a UTF-8 file with their numbers, without their line ends.

    Lines end with ``\n`` or ``\r\n`` and with nothing else: a text may hold U+2028 or U+0085. A
    byte-order mark is dropped. The file is read while it is asked for, so it may be of any size.

    Args:
        path: a file, plain or ``.gz``; ``-`` is standard input.
        errors: "strict", or "replace": bytes that are not UTF-8, and NUL bytes, become U+FFFD.

    Yields:
        (line number from 1, text of the line).

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a line is not UTF-8 or holds a NUL byte, or a ``.gz`` file is damaged. The
            message names the file and the line.
    """
    check_one_of("errors", errors, ERRORS)
    name = source_name(path)
    with _open_binary(path) as stream:
        number = 0
        try:
            for number, raw in enumerate(stream, start=1):
                yield number, _decode(raw, name, number, errors)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"{name}, line {number + 1}: the compressed file is damaged or cut short "
                f"({error}). Copy it again."
            ) from error


def check_is_no_folder(path: str) -> None:
    """Raise IsADirectoryError if there is a folder at `path`."""
    if path != STANDARD_INPUT and Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a folder; a file of texts was expected.")


def _open_binary(path: str) -> AbstractContextManager[BinaryIO]:
    """Open `path` for reading bytes."""
    if path == STANDARD_INPUT:
        # Left open afterwards: it belongs to the process.
        return nullcontext(sys.stdin.buffer)
    check_is_no_folder(path)
    try:
        return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")  # type: ignore[return-value]
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {path}. Check the name.") from error
    except PermissionError as error:
        raise PermissionError(f"{path} may not be read. Check its permissions.") from error


def _decode(raw: bytes, name: str, number: int, errors: str) -> str:
    """Decode one line and take its line end off."""
    if number == 1:
        if raw.startswith(_UTF16_MARKS):
            raise ValueError(f"{name}, line 1: the file is UTF-16. Save it as UTF-8.")
        raw = raw.removeprefix(_UTF8_MARK)
    if errors == REPLACE:
        text = raw.decode("utf-8", "replace").replace("\0", "\ufffd")
        return text.removesuffix("\n").removesuffix("\r")
    if b"\0" in raw:
        raise ValueError(
            f"{name}, line {number}: a NUL byte was found, so this is not a text file or is a "
            "damaged one. Save it as UTF-8 text."
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: byte {error.start + 1} of the line is not UTF-8 "
            f"(0x{raw[error.start]:02x}). Save the file as UTF-8."
        ) from error
    return text.removesuffix("\n").removesuffix("\r")
