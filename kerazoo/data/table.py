"""A file of rows in memory, which remembers where each row stood."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kerazoo.data.row import Row

_SHOWN = 3


@dataclass(frozen=True)
class Table:
    """The rows of a file, by column.

    Attributes:
        path: the file, as messages call it.
        columns: the values by column name; all columns are of one length.
        lines: the line of the file on which each row begins.
        unit: what `lines` counts, if not lines: the questions of a JSON file.
        skipped: what was wrong with each row that was left out.
    """

    path: str
    columns: dict[str, list[Any]]
    lines: list[int]
    unit: str = "line"
    skipped: tuple[str, ...] = ()

    @classmethod
    def from_rows(cls, path: str, rows: Iterable[Row]) -> "Table":
        """Read all rows.

        Raises:
            ValueError: if there is none.
        """
        lines: list[int] = []
        columns: dict[str, list[Any]] = {}
        for row in rows:
            lines.append(row.line)
            for name, value in row.values.items():
                columns.setdefault(name, []).append(value)
        if not lines:
            raise ValueError(f"{path} has a header and no rows. Give it at least one row.")
        return cls(path, columns, lines)

    @property
    def fingerprint(self) -> str:
        """A checksum of the rows, which differs for others, or for another order."""
        content = json.dumps(self.columns, ensure_ascii=False, default=str)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def where(self, index: int) -> str:
        """Return the place of row `index` for a message: the file and the line."""
        return f"{self.path}, {self.unit} {self.lines[index]}"

    def skipped_note(self) -> str | None:
        """Return lines that say which rows were left out, the first ones; None if none was."""
        if not self.skipped:
            return None
        count, hidden = len(self.skipped), len(self.skipped) - _SHOWN
        is_or_are = "is" if count == 1 else "are"
        lines = [f"{self.path}: {count} of {len(self) + count} rows {is_or_are} left out."]
        lines += [f"  {fault}" for fault in self.skipped[:_SHOWN]]
        if hidden > 0:
            lines.append(f"  and {hidden} more.")
        return "\n".join(lines)

    def take(self, indices: Iterable[int]) -> "Table":
        """Return the rows with these indices, in this order."""
        chosen = list(indices)
        columns = {name: [values[i] for i in chosen] for name, values in self.columns.items()}
        lines = [self.lines[i] for i in chosen]
        return Table(self.path, columns, lines, self.unit)
