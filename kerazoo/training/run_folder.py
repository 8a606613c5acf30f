"""What a training run leaves in its folder: the preset, the metrics and the settings."""

import dataclasses
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.preset_weights import check_preset_weights
from kerazoo.training.plain_json import plain_json
from kerazoo.training.settings import Settings

METRICS_FILE = "metrics.json"
CONFIG_FILE = "training_config.json"
HISTORY_FILE = "history.jsonl"
RUN_FILE = "run.json"
ROWS = "rows"
"""What fingerprints of the rows are called in a run's description."""
VALIDATION_ROWS = "validation_rows"
"""What the fingerprint of rows to evaluate on is called that come from other data."""


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """What a run gave.

    Attributes:
        folder: the folder with the preset, metrics.json, training_config.json, history.jsonl and
            run.json, what the run was begun with.
        metrics: what metrics.json holds.
    """

    folder: Path
    metrics: dict[str, Any]


def run_description(described: dict[str, Any], rows: Any, config: Settings) -> dict[str, Any]:
    """Return all that decides what a run does; see `UnfinishedRun.begin`.

    Args:
        described: what the run was called with.
        rows: fingerprints of the rows.
        config: the settings.
    """
    import keras

    backend = keras.config.backend()
    return {**described, "backend": backend, ROWS: rows, **dataclasses.asdict(config)}


def defaults_of(config: Settings) -> dict[str, Any]:
    """Return the defaults of settings; see `UnfinishedRun.begin`."""
    fields = dataclasses.fields(config)
    return {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}


def read_result(folder: Path) -> TrainingResult:
    """Return what a complete run gave.

    Raises:
        FileNotFoundError: if its weights are gone.
        ValueError: if they, or metrics.json, are damaged.
    """
    check_preset_weights(folder)
    return TrainingResult(folder, read_json_object(folder / METRICS_FILE))


def write_run(task: Any, metrics: dict[str, Any], config: Settings, folder: Path) -> None:
    """Write the preset of a task, the metrics and the settings."""
    task.save_to_preset(str(folder))
    (folder / METRICS_FILE).write_text(plain_json(metrics, indent=2) + "\n", encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config.to_json(), encoding="utf-8")
