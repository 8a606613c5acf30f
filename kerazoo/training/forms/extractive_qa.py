"""Extractive question answering: questions about passages, with answers that are parts of them."""

from collections.abc import Mapping
from typing import Any

from kerazoo.axes import ANSWER, ANSWER_START, ANSWERS, CONTEXT, QUESTION, QUESTION_ID
from kerazoo.data.question_record import place_with_id
from kerazoo.data.questions import question_rows, read_questions
from kerazoo.data.row import Rows
from kerazoo.data.stratified_split import stratified_split
from kerazoo.data.table import Table
from kerazoo.metrics.cmrc_f1 import cmrc_scores, has_han
from kerazoo.metrics.span_f1 import squad_scores
from kerazoo.tasks.registry import task_class
from kerazoo.tasks.saved_task import SavedTask
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import FitRows, Form
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress


class ExtractiveQAForm(Form):
    """SQuAD's JSON, CMRC 2018's, or JSON lines of `context`, `question` and `answers`."""

    task_name = "extractive-qa"
    input_columns = (QUESTION_ID, CONTEXT, QUESTION)
    required_columns = (CONTEXT, QUESTION)

    def read_table(self, path: str) -> Table:
        """Read questions with answers; bad ones are left out, or an error if `strict`."""
        return read_questions(path, self.strict)

    def read_rows(self, path: str) -> Rows:
        """Yield questions, which need no answers."""
        return question_rows(path, with_answers=False)

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Accept any two files: answers were checked against their passages."""

    def check_settings(self, config: FinetuneConfig, saved: SavedTask, row_length: int) -> None:
        """Check that windows have room behind a question, and leave no gaps."""
        stride = saved.packing.get("stride") if config.stride is None else config.stride
        task_class(self.task_name).preprocessor_cls.check_windows(row_length, stride)

    def split(self, table: Table, config: FinetuneConfig) -> tuple[list[int], list[int]]:
        """Hold whole passages out, so that none is learnt from and measured on."""
        contexts = list(dict.fromkeys(table.columns[CONTEXT]))
        if len(contexts) == 1:
            which = "the only question is" if len(table) == 1 else f"all {len(table)} questions are"
            raise ValueError(
                f"{table.path}: {which} about one passage, so none can be held out. Give more "
                "passages, or a validation file (--validation). Received: passages=1"
            )
        _, chosen = stratified_split([""] * len(contexts), config.validation_fraction, config.seed)
        held_out = {contexts[index] for index in chosen}
        rows: tuple[list[int], list[int]] = ([], [])
        for index, context in enumerate(table.columns[CONTEXT]):
            rows[context in held_out].append(index)
        return rows

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return the stride, if it was chosen."""
        return {} if config.stride is None else {"stride": config.stride}

    def usable(self, table: Table, task: Any) -> Table:
        """Return the questions that leave room for their passages in the task's rows."""
        preprocessor = task.preprocessor
        longest = preprocessor.longest_question
        lengths = preprocessor.question_lengths(table.columns[QUESTION]).numpy().tolist()
        ids = table.columns[QUESTION_ID]
        skipped = [
            f"{place_with_id(table.where(index), ids[index])}: the question has {length} tokens, "
            f"and with a sequence length of {preprocessor.sequence_length} it may have {longest}."
            for index, length in enumerate(lengths)
            if length > longest
        ]
        if skipped and (self.strict or len(skipped) == len(table)):
            raise ValueError(f"{skipped[0]} Shorten it, or raise --sequence-length.")
        kept = table.take(index for index, length in enumerate(lengths) if length <= longest)
        return Table(kept.path, kept.columns, kept.lines, kept.unit, tuple(skipped))

    def targets(self, table: Table, task: Any) -> dict[str, list[Any]]:
        """Return the first answer of each question."""
        first = [answers[0] if answers else ("", -1) for answers in table.columns[ANSWERS]]
        return {ANSWER: [text for text, _ in first], ANSWER_START: [start for _, start in first]}

    def fit_rows(self, table: Table, task: Any) -> FitRows:
        """Return the windows of all questions."""
        texts = {name: table.columns[name] for name in (QUESTION, CONTEXT)}
        windows = task.windows(texts, self.targets(table, task))
        return FitRows(len(windows), windows, None, row_of_each=windows.rows)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `exact_match` and `f1`, and those of CMRC 2018 for Chinese answers.

        Where some questions have no answer, SQuAD v2.0's split of the measures is there too.
        """
        found = [
            answer["answer"] for answer in self.answer_table(predictor, table, batch_size, progress)
        ]
        right = [[text for text, _ in answers] for answers in table.columns[ANSWERS]]
        measured = {"rows": len(table), **squad_scores(found, right)}
        if has_han([text for texts in right for text in texts]):
            measured |= cmrc_scores(found, right)
        return measured

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return exact match and F1, CMRC's where they were measured."""
        prefix = "cmrc_" if "cmrc_f1" in metrics else ""
        return f"exact match {metrics[f'{prefix}exact_match']:.4f}, F1 {metrics[f'{prefix}f1']:.4f}"
