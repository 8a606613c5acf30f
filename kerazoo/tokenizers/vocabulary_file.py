r"""Vocabulary files: one entry a line, split on ``\n`` only, so that the id is the line number."""

from collections.abc import Sequence
from pathlib import Path


def read_vocabulary(path: str | Path) -> list[str]:
    r"""Return the entries of a vocabulary file; an entry's id is its line number from 0.

    Lines end at ``\n`` and nowhere else: entries may hold U+2028, U+0085 or other characters at
    which Python would break a line. One ``\r`` before the ``\n`` is dropped (Windows files), blank
    lines are entries (they take up an id), and the last line need not end in ``\n``.

    Args:
        path: the file, UTF-8 text.

    Returns:
        The entries, in order.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is empty, is no UTF-8 text, or holds an entry twice.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            "The vocabulary file does not exist or is no file. Name a text file with one token a "
            f"line. Received: vocabulary={str(path)!r}"
        )
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if not data:
        raise ValueError(
            "The vocabulary file is empty. It needs one token a line. "
            f"Received: vocabulary={str(path)!r}"
        )
    lines = data.removesuffix(b"\n").split(b"\n")
    entries = [_decode(line, number, path) for number, line in enumerate(lines, start=1)]
    check_unique(entries, str(path))
    return entries


def write_vocabulary(path: str | Path, entries: Sequence[str]) -> None:
    r"""Write one entry a line, UTF-8, each line ended by ``\n``.

    Args:
        path: the file to write.
        entries: the vocabulary in id order.

    Raises:
        ValueError: if an entry cannot be read back as it is, because it holds a line end.
    """
    for number, entry in enumerate(entries):
        if "\n" in entry or entry.endswith("\r"):
            raise ValueError(
                "A vocabulary entry with a line end cannot be saved one entry a line. "
                f"Received: entry={entry!r}, id={number}"
            )
    Path(path).write_bytes("".join(f"{entry}\n" for entry in entries).encode("utf-8"))


def check_unique(entries: Sequence[str], source: str) -> None:
    """Raise ValueError if an entry occurs twice; blank entries may repeat, as they match nothing.

    Args:
        entries: the vocabulary in id order.
        source: where it came from, for the message.
    """
    first_line: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        if entry and first_line.setdefault(entry, number) != number:
            raise ValueError(
                f"The vocabulary holds an entry twice, in lines {first_line[entry]} and {number}, "
                "so its id would be ambiguous. Remove one or rename it. "
                f"Received: entry={entry!r}, vocabulary={source!r}"
            )


def _decode(line: bytes, number: int, path: Path) -> str:
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"The vocabulary file is no UTF-8 text: line {number} cannot be decoded. Convert the "
            f"file to UTF-8. Received: vocabulary={str(path)!r}"
        ) from error
