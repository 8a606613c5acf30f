"""Token classification: words with a tag each, or texts with entities in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerazoo.axes import ENTITIES, TAGS, TEXT, WORDS
from kerazoo.data.row import Rows
from kerazoo.data.table import Table
from kerazoo.data.tagged_texts import read_tagged_texts, rows_to_tag
from kerazoo.metrics.entity_report import entity_report
from kerazoo.metrics.entity_spans import OUTSIDE, entity_spans, split_tag
from kerazoo.tasks.crf_arguments import check_crf_arguments
from kerazoo.tasks.registry import task_class
from kerazoo.tasks.saved_task import SavedTask
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import FitRows, Form
from kerazoo.training.labels import balanced_weights
from kerazoo.training.predictor import Predictor
from kerazoo.training.progress import SILENT, Progress

_CRF = ("crf", "ban_illegal_moves", "label_all_pieces")


class TokenClassificationForm(Form):
    """Words and tags in columns, or JSON lines of `words` and `tags` or `text` and `entities`."""

    task_name = "token-classification"
    input_columns = (TEXT, WORDS)
    required_columns = (TEXT,)

    def read_table(self, path: str) -> Table:
        """Read sentences with tags; bad ones are left out, or an error if `strict`."""
        return read_tagged_texts(path, self.tag_scheme, self.strict)

    def read_rows(self, path: str) -> Rows:
        """Yield texts or words, which need no tags."""
        return rows_to_tag(path)

    def check_inputs(self, names: Sequence[str]) -> None:
        """Raise ValueError unless rows have texts, or words."""
        super().check_inputs([TEXT if name == WORDS else name for name in names])

    def check(self, train: Table, validation: Table, config: FinetuneConfig) -> None:
        """Check that there are entities, and that those of both files are of the same types."""
        _check_known_types(validation, _types(train))

    def check_settings(self, config: FinetuneConfig, saved: SavedTask, row_length: int) -> None:
        """Check that windows leave no gaps, and that a CRF is asked for what it can do."""
        kind = task_class(self.task_name)
        settings = {**saved.packing, **kind.merge_config(saved.arguments, _head_settings(config))}
        crf, ban, all_pieces = (bool(settings.get(name)) for name in _CRF)
        check_crf_arguments(crf, ban, all_pieces)
        if crf and config.class_weight is not None:
            raise ValueError(
                "A CRF scores whole sequences of tags, so tags have no weights of their own. "
                f"Received: crf=True, class_weight={config.class_weight!r}"
            )
        kind.preprocessor_cls.check_windows(row_length, settings.get("stride"))

    def split(self, table: Table, config: FinetuneConfig) -> tuple[list[int], list[int]]:
        """Hold rows out, but none with a type that no row that is kept has."""
        kept, held_out = super().split(table, config)
        types = [set(row) for row in _row_types(table)]
        known = set().union(*(types[index] for index in kept))
        measured_on = []
        for index in held_out:
            if types[index] <= known:
                measured_on.append(index)
            else:
                kept.append(index)
                known |= types[index]
        if not measured_on:
            raise ValueError(
                f"{table.path}: no sentence can be held out, as each one that was drawn has an "
                "entity of a type that no other one has. Give more, or a validation file "
                f"(--validation). Received: sentences={len(table)}"
            )
        return sorted(kept), measured_on

    def split_labels(self, table: Table, config: FinetuneConfig) -> list[str]:
        """Return one class for all rows."""
        return [""] * len(table)

    def task_arguments(self, train: Table, config: FinetuneConfig) -> dict[str, Any]:
        """Return the tags, and of the other settings those that were chosen."""
        tags = [f"{prefix}-{kind}" for kind in _types(train) for prefix in "BI"]
        return {"labels": [OUTSIDE, *tags], **_head_settings(config)}

    def targets(self, table: Table, task: Any) -> Any:
        """Return the tags or the entities of a table as `fit` takes them."""
        if TAGS in table.columns:
            return table.columns[TAGS]
        return [[tuple(entity) for entity in row] for row in table.columns[ENTITIES]]

    def fit_rows(self, table: Table, task: Any) -> FitRows:
        """Return the windows of all texts."""
        windows = task.windows(self.columns(table), self.targets(table, task))
        return FitRows(len(windows), windows, None, row_of_each=windows.rows)

    def fit(
        self,
        task: Any,
        train: FitRows,
        validation: FitRows,
        config: FinetuneConfig,
        **options: Any,
    ) -> None:
        """Call `fit`; every tag weighs the same if the settings say so."""
        if config.class_weight is not None:
            numbers = train.x.targets[train.x.weights > 0].tolist()
            options["class_weight"] = balanced_weights([task.labels[tag] for tag in numbers])
        super().fit(task, train, validation, config, **options)

    def measure(
        self, predictor: Predictor, table: Table, batch_size: int, progress: Progress = SILENT
    ) -> dict[str, Any]:
        """Return `rows`, `precision`, `recall` and `f1` of entities, and those of each type.

        Of words the tags are compared, of texts the characters. `illegal_moves` are the I- that
        went on with no entity of their type; a SavedModel does not tell.
        """
        _check_known_types(table, [split_tag(label)[1] for label in predictor.labels])
        answers = self.answer_table(predictor, table, batch_size, progress)
        if TAGS in table.columns:
            expected = [entity_spans(tags) for tags in table.columns[TAGS]]
            found = [entity_spans(answer[TAGS]) for answer in answers]
            report = entity_report(expected, found)
        else:
            report = entity_report(
                [[(e.type, e.start, e.end) for e in row] for row in table.columns[ENTITIES]],
                [[(e["type"], e["start"], e["end"]) for e in a["entities"]] for a in answers],
            )
        moves = [answer["illegal_moves"] for answer in answers if "illegal_moves" in answer]
        return {
            "rows": len(table),
            **report,
            **({"illegal_moves": sum(moves)} if len(moves) == len(answers) else {}),
        }

    def summary(self, metrics: Mapping[str, Any]) -> str:
        """Return precision, recall and F1."""
        return (
            f"entities: precision {metrics['precision']:.4f}, recall {metrics['recall']:.4f}, "
            f"F1 {metrics['f1']:.4f}"
        )


def _head_settings(config: FinetuneConfig) -> dict[str, Any]:
    """Return the settings of head and preprocessor that were chosen."""
    chosen = {name: getattr(config, name) for name in (*_CRF, "stride")}
    return {name: value for name, value in chosen.items() if value is not None}


def _row_types(table: Table) -> list[list[str]]:
    """Return the types of the entities of each row."""
    if TAGS in table.columns:
        return [
            [split_tag(tag)[1] for tag in tags if tag != OUTSIDE] for tags in table.columns[TAGS]
        ]
    return [[entity.type for entity in entities] for entities in table.columns[ENTITIES]]


def _types(table: Table) -> list[str]:
    """Return the types of a table's entities in order; ValueError if there is none."""
    types = sorted({kind for row in _row_types(table) for kind in row})
    if not types:
        raise ValueError(
            f"{table.path}: no sentence has an entity; to learn something, a model needs some."
        )
    return types


def _check_known_types(table: Table, types: Sequence[str]) -> None:
    """Raise ValueError if a row has an entity of a type that is not among `types`."""
    known = set(types)
    for index, row in enumerate(_row_types(table)):
        for kind in row:
            if kind not in known:
                raise ValueError(
                    f"{table.where(index)}: the type {kind!r} is unknown; the model knows "
                    f"{', '.join(sorted(known - {''}))}. Correct it or remove the row."
                )
