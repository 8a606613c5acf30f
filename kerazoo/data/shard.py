"""One file of rows and what it holds. Imports nothing heavy."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Counts:
    """What was read and made.

    Args:
        documents: int.
        segments: int, lines that are not blank.
        rows: int.
        tokens: int, of all rows, special tokens included.
        random_next: int, rows whose second text comes from another document.
        fallback_lines: int, lines whose segmented words do not make up the line, so that each Han
            character counts as a word.
        replaced_lines: int, lines with bytes that are no UTF-8, which were replaced.
    """

    documents: int = 0
    segments: int = 0
    rows: int = 0
    tokens: int = 0
    random_next: int = 0
    fallback_lines: int = 0
    replaced_lines: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Return the sums."""
        fields = dataclasses.fields(self)
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields))


@dataclasses.dataclass(frozen=True)
class Shard:
    """One file of rows.

    Args:
        name: the file's name in the folder.
        bytes: int, its size.
        sha256: str, its checksum in hexadecimal.
        source_sha256: str, that of the documents it was made of.
        counts: what it holds.
    """

    name: str
    bytes: int
    sha256: str
    source_sha256: str
    counts: Counts

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Shard":
        """Return the shard of a JSON object."""
        return cls(**{**content, "counts": Counts(**content["counts"])})
