"""What every task's form says."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.data.read_table import read_rows, read_table
from kerazoo.data.row import Rows
from kerazoo.data.stratified_split import stratified_split
from kerazoo.data.table import Table
from kerazoo.data.tag_schemes import BIO
from kerazoo.tasks.saved_task import SavedTask
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress

BATCHES_OF_A_CHUNK = 16
"""Starting a computation costs some tens of milliseconds; over so many batches that is little."""

Columns = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class FitRows:
    """The arguments that `fit` takes for the rows of a table.

    Args:
        count: int, how many rows the model sees in an epoch.
        x: the inputs.
        y: the targets.
        sample_weight: weights of the targets, or None.
        row_of_each: (count,) int, the row of the table that each comes from; None where each is the
            table's row of the same number.
    """

    count: int
    x: Any
    y: Any
    sample_weight: Any = None
    row_of_each: Sequence[int] | None = None


class Form:
    """The files of a task, and how rows of them become inputs, targets and measures.

    The defaults are those of a task on single texts or pairs of texts with one label each.

    Attributes:
        strict: whether a bad row is an error where the task can leave it out.
        tag_scheme: how files mark entities, where the task has any.
    """

    task_name: ClassVar[str]
    strict: bool = False
    tag_scheme: str = BIO
    input_columns: ClassVar[tuple[str, ...]] = (TEXT, TEXT_PAIR)
    required_columns: ClassVar[tuple[str, ...]] = (TEXT,)

    def read_table(self, path: str) -> Table:
        """Read labelled rows; ValueError names the file and the line of a wrong one."""
        return read_table(path)

    def read_rows(self, path: str) -> Rows:
        """Yield rows without labels, while the file is read."""
        return read_rows(path)

    def check_inputs(self, names: Sequence[str]) -> None:
        """Raise ValueError if rows with these columns cannot be answered."""
        missing = [name for name in self.required_columns if name not in names]
        if missing:
            listed = ", ".join(f"`{name}`" for name in self.required_columns)
            raise ValueError(
                f"The model was trained for {self.task_name}, and every row needs {listed}. "
                f"Received: rows without `{missing[0]}`"
            )
        foreign = [name for name in names if name not in (*self.input_columns, LABEL)]
        if foreign:
            raise ValueError(
                f"The model was trained for {self.task_name}, which reads no `{foreign[0]}`. "
                f"Received: rows with {', '.join(f'`{name}`' for name in names)}"
            )

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Raise ValueError if the rows of the two files do not belong together."""
        with_pairs = [table.path for table in (train, validation) if TEXT_PAIR in table.columns]
        if len(with_pairs) == 1:
            other = ({train.path, validation.path} - set(with_pairs)).pop()
            raise ValueError(
                f"{with_pairs[0]} has the column `{TEXT_PAIR}` and {other} has not. "
                "Give both files pairs, or none."
            )

    def check_settings(self, config: FinetuneConfig, saved: SavedTask, row_length: int) -> None:
        """Raise ValueError if settings do not fit what the checkpoint says in its small files.

        Args:
            config: the settings of the run.
            saved: the task as the checkpoint holds it.
            row_length: int, the tokens of a row.
        """

    def split_labels(self, table: Table, config: FinetuneConfig) -> Sequence[str]:
        """Return what a held-out share must have in the same proportions, one value a row."""
        return table.columns[LABEL]

    def split(self, table: Table, config: FinetuneConfig) -> tuple[list[int], list[int]]:
        """Return the indices of the rows that are kept and of those that are held out.

        Raises:
            ValueError: if none can be held out; the message names the file.
        """
        labels = self.split_labels(table, config)
        try:
            return stratified_split(labels, config.validation_fraction, config.seed)
        except ValueError as error:
            raise ValueError(f"{table.path}: {error}") from error

    def usable(self, table: Table, task: Any) -> Table:
        """Return the rows that the loaded task can read; what was wrong with others is `skipped`.

        Raises:
            ValueError: if there is none, or, if `strict`, one is wrong.
        """
        # What the file's reader left out was said when it was read.
        return dataclasses.replace(table, skipped=())

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return the arguments of the task's constructor that rows and settings decide."""
        raise TypeError(f"{type(self).__name__} does not define `task_arguments`.")

    def targets(self, table: Table, task: Any) -> Any:
        """Return the labels of a table as `fit` takes them."""
        return table.columns[LABEL]

    def fit_rows(self, table: Table, task: Any) -> FitRows:
        """Return a table as `fit` and `evaluate` take it."""
        return FitRows(len(table), self.columns(table), self.targets(table, task))

    def fit(
        self,
        task: Any,
        train: FitRows,
        validation: FitRows,
        config: FinetuneConfig,
        **options: Any,
    ) -> None:
        """Call the task's `fit`.

        Args:
            task: the compiled task.
            train: the rows to learn from, from `fit_rows`.
            validation: the rows to measure on after each epoch, from `fit_rows`.
            config: the settings of the run.
            **options: further arguments of `fit`.
        """
        task.fit(
            train.x,
            train.y,
            sample_weight=train.sample_weight,
            validation_data=(validation.x, validation.y, validation.sample_weight),
            batch_size=config.batch_size,
            **options,
        )

    def where(self, table: Table, given: FitRows, numbers: Sequence[int]) -> str:
        """Return where rows that `fit` got stand, for a message.

        Args:
            table: what `fit_rows` was called with.
            given: what it gave.
            numbers: the rows' numbers in that.
        """
        of_each = given.row_of_each
        rows = {number if of_each is None else int(of_each[number]) for number in numbers}
        lines = sorted(table.lines[row] for row in rows)
        return f"{table.unit}s {', '.join(map(str, lines))} of {table.path}"

    def count_truncated(self, task: Any, table: Table) -> int:
        """Return how many texts are longer than the task's rows."""
        count: int = task.preprocessor.count_truncated(self.columns(table))
        return count

    def columns(self, table: Table) -> dict[str, list[Any]]:
        """Return the columns that are answered."""
        return {name: table.columns[name] for name in self.input_columns if name in table.columns}

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return what a report says of a predictor's answers to a table, fit for JSON."""
        raise TypeError(f"{type(self).__name__} does not define `measure`.")

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return the most important measures in a line."""
        raise TypeError(f"{type(self).__name__} does not define `summary`.")

    def answer_table(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress
    ) -> list[dict[str, Any]]:
        """Return a predictor's answer to each row."""
        columns = self.columns(table)
        answers: list[dict[str, Any]] = []
        step = BATCHES_OF_A_CHUNK * batch_size
        with progress.bar("evaluating", len(table)) as advance:
            for start in range(0, len(table), step):
                part = {name: values[start : start + step] for name, values in columns.items()}
                answers.extend(predictor.answer(part, batch_size))
                advance(min(step, len(table) - start), "")
        return answers
