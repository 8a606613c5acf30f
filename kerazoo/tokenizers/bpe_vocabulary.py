"""Vocabulary and merges of byte-pair encoding: read, checked, written."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

VOCABULARY_FILE = "vocabulary.json"
MERGES_FILE = "merges.txt"
_HEADER = "#version"

Merge = tuple[str, str]


def read_entries(vocabulary: str | Path | Mapping[str, int]) -> list[str]:
    """Return the entries of a vocabulary in id order.

    Args:
        vocabulary: entries and their ids, or the path of a JSON file with such an object.

    Returns:
        The entries.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is damaged, or the ids are not 0, 1, 2, …, each once.
    """
    if isinstance(vocabulary, Mapping):
        return _in_id_order(vocabulary, "a dict")
    path = _existing_file(vocabulary, "vocabulary", "a JSON object of tokens and ids")
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_unique_keys)
    except ValueError as error:
        raise ValueError(
            f"The vocabulary file holds no valid JSON ({error}). Received: vocabulary={str(path)!r}"
        ) from error
    if not isinstance(content, dict):
        raise ValueError(
            "The vocabulary file needs one JSON object that maps each token to its id. "
            f"Received: a {type(content).__name__} in vocabulary={str(path)!r}"
        )
    return _in_id_order(content, repr(str(path)))


def read_merges(merges: str | Path | Iterable[str | Sequence[str]]) -> list[Merge]:
    r"""Return merges in order of rank.

    Lines of a file end at ``\n`` and nowhere else, as parts may hold other characters at which
    Python would break a line. A first line that begins with ``#version`` is dropped.

    Args:
        merges: strings "left right" or pairs (left, right), or the path of a file of such lines.

    Returns:
        (left, right) of each merge.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a merge has not two parts, or occurs twice.
    """
    if isinstance(merges, (str, Path)):
        path = _existing_file(merges, "merges", "two parts a line, separated by a space")
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"The file of merges is no UTF-8 text. Received: merges={str(path)!r}"
            ) from error
        lines = text.removesuffix("\n").split("\n") if text else []
        skipped = 1 if lines and lines[0].startswith(_HEADER) else 0
        return _pairs([line.removesuffix("\r") for line in lines[skipped:]], str(path), skipped + 1)
    return _pairs(merges, "a list", 1)


def check_merges(merges: Sequence[Merge], ids: Mapping[str, int]) -> None:
    """Raise ValueError if a merge joins or makes what is not in the vocabulary."""
    for number, (left, right) in enumerate(merges, start=1):
        for token in (left, right, left + right):
            if token not in ids:
                raise ValueError(
                    "The merges do not fit the vocabulary: merge "
                    f"{number} ({left!r} + {right!r}) needs an entry {token!r}, which the "
                    f"vocabulary lacks. Received: {len(ids)} entries, {len(merges)} merges"
                )


def write_vocabulary_and_merges(
    folder: str | Path, entries: Sequence[str], merges: Sequence[Merge]
) -> None:
    """Write `vocabulary.json` and `merges.txt` into a folder, as KerasHub does."""
    vocabulary, lines = vocabulary_and_merges_text(entries, merges)
    Path(folder, VOCABULARY_FILE).write_bytes(vocabulary.encode("utf-8"))
    Path(folder, MERGES_FILE).write_bytes(lines.encode("utf-8"))


def vocabulary_and_merges_text(entries: Sequence[str], merges: Sequence[Merge]) -> tuple[str, str]:
    """Return the contents of the two files, which Hugging Face's libraries read too."""
    vocabulary = {entry: number for number, entry in enumerate(entries)}
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    return json.dumps(vocabulary, ensure_ascii=False), f"{_HEADER}: 0.2\n{lines}"


def _existing_file(path: str | Path, name: str, content: str) -> Path:
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"The file of the {name} does not exist or is no file. Name a file with {content}. "
            f"Received: {name}={str(path)!r}"
        )
    return path


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"it holds the entry {twice!r} twice")
    return content


def _in_id_order(vocabulary: Mapping[str, Any], source: str) -> list[str]:
    if not vocabulary:
        raise ValueError(f"The vocabulary is empty. Received: vocabulary={source}")
    entry_of: dict[int, str] = {}
    for entry, number in vocabulary.items():
        if not isinstance(entry, str) or not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(
                "A vocabulary maps tokens (str) to ids (int). "
                f"Received: {entry!r}: {number!r} in vocabulary={source}"
            )
        if entry_of.setdefault(number, entry) != entry:
            raise ValueError(
                f"Two entries of the vocabulary have the same id. Received: {entry_of[number]!r} "
                f"and {entry!r} with id={number} in vocabulary={source}"
            )
    if missing := set(range(len(entry_of))) - set(entry_of):
        raise ValueError(
            f"The ids of a vocabulary of {len(entry_of)} entries must be 0 to {len(entry_of) - 1}, "
            f"without gaps. Received: no entry with id={min(missing)} in vocabulary={source}"
        )
    return [entry_of[number] for number in range(len(entry_of))]


def _pairs(lines: Iterable[Any], source: str, first_line: int) -> list[Merge]:
    line_of: dict[Merge, int] = {}
    for number, line in enumerate(lines, start=first_line):
        parts = tuple(line.split(" ")) if isinstance(line, str) else tuple(line)
        if len(parts) != 2 or not all(isinstance(p, str) and _is_one_part(p) for p in parts):
            raise ValueError(
                f"A merge has two parts, separated by a space, but merge or line {number} has not. "
                f"Received: {line!r} in merges={source!r}"
            )
        pair = (parts[0], parts[1])
        if line_of.setdefault(pair, number) != number:
            raise ValueError(
                f"The merges hold one twice, in lines {line_of[pair]} and {number}, so its rank "
                f"would be ambiguous. Received: {line!r} in merges={source!r}"
            )
    return list(line_of)


def _is_one_part(part: str) -> bool:
    return bool(part) and " " not in part and "\n" not in part
