"""What a checkpoint says of a task in its small files, before any weight is read."""

from typing import Any, NamedTuple

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.source import KERAZOO, CheckpointSource
from kerazoo.tasks.shared_heads import TASK_FILE

DEFAULT_SEQUENCE_LENGTH = 512
PREPROCESSOR_FILE = "preprocessor.json"
_PARTS = ("backbone", "preprocessor", "tokenizer")


class SavedTask(NamedTuple):
    """A task of a class as a checkpoint holds it.

    Attributes:
        arguments: those of its constructor; {} if the checkpoint holds another task, or none.
        packing: those of its preprocessor's constructor; {} if that is another one's, or none.
        limit: int, the most tokens of a row that the backbone reads; None if it does not say.
    """

    arguments: dict[str, Any]
    packing: dict[str, Any]
    limit: int | None

    @property
    def sequence_length(self) -> int:
        """The tokens of a row if nothing else is asked for."""
        default = default_sequence_length(self.limit)
        return int(self.packing.get("sequence_length", default))


def read_saved_task(task_class: Any, source: CheckpointSource) -> SavedTask:
    """Return what a checkpoint says of a class of task.

    Args:
        task_class: the kerazoo task.
        source: the opened checkpoint.

    Raises:
        ValueError: if a file of it is damaged; the message names it.
    """
    packing = {}
    if source.format == KERAZOO:
        packing = _config(source, PREPROCESSOR_FILE, task_class.preprocessor_cls)
    return SavedTask(saved_arguments(task_class, source), packing, source.max_sequence_length)


def saved_arguments(task_class: Any, source: CheckpointSource) -> dict[str, Any]:
    """Return the constructor arguments saved for this class of task; {} for another one.

    Args:
        task_class: the kerazoo task.
        source: the opened checkpoint.
    """
    if source.format == KERAZOO:
        return _config(source, TASK_FILE, task_class)
    return source.task_config(task_class.task_name)


def default_sequence_length(limit: int | None) -> int:
    """Return the tokens of a row where none was saved.

    Args:
        limit: int, the most that the backbone reads, or None.
    """
    return min(DEFAULT_SEQUENCE_LENGTH, limit or DEFAULT_SEQUENCE_LENGTH)


def _config(source: CheckpointSource, name: str, saved_class: type) -> dict[str, Any]:
    """Return what a file of a preset holds of a class, without parts that have their own files."""
    file = source.folder / name
    saved = read_json_object(file) if file.exists() else {}
    if saved.get("class_name") != saved_class.__name__:
        return {}
    return {key: value for key, value in saved["config"].items() if key not in _PARTS}
