"""Whether the settings of a fine-tuning run fit the checkpoint, before its weights are read."""

from kerazoo.conversion.source import CheckpointSource
from kerazoo.tasks.registry import task_class
from kerazoo.tasks.saved_task import read_saved_task
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form


def checked_row_length(form: Form, source: CheckpointSource, config: FinetuneConfig) -> int:
    """Return the tokens of a row, once the settings are known to fit the checkpoint.

    Args:
        form: the task's.
        source: the opened checkpoint.
        config: the settings of the run.

    Raises:
        ValueError: if rows are to be longer than the checkpoint reads, or the form finds that
            settings do not fit what the checkpoint says in its small files.
    """
    saved = read_saved_task(task_class(form.task_name), source)
    limit = saved.limit or saved.sequence_length
    if config.sequence_length is None:
        limit = min(limit, saved.sequence_length)
    row_length = config.row_length(limit)
    form.check_settings(config, saved, row_length)
    return row_length
