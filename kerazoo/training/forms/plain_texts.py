"""What the forms of language models share: texts without labels."""

from typing import Any

from kerazoo.axes import TEXT
from kerazoo.data.read_table import read_rows, read_table
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form


class PlainTextsForm(Form):
    """Rows of `text`: one a line of a plain text file, or the column `text` of another one."""

    input_columns = (TEXT,)

    def read_table(self, path: str) -> Table:
        """Read texts; labels, if there are any, are not read."""
        return read_table(path, required=(TEXT,), optional=())

    def read_rows(self, path: str) -> Rows:
        """Yield texts to answer."""
        return read_rows(path, required=(TEXT,), optional=())

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Accept any two files."""

    def split_labels(self, table: Table, config: FinetuneConfig) -> list[str]:
        """Return one class for all rows."""
        return [""] * len(table)

    def targets(self, table: Table, task: Any) -> Any:
        """Return None: the texts are the targets too."""
        return None
