"""What a training run leaves in its folder: the preset, the metrics and the settings."""

import dataclasses
from pathlib import Path
from typing import Any

from kerazoo.training.plain_json import plain_json
from kerazoo.training.settings import Settings

METRICS_FILE = "metrics.json"
CONFIG_FILE = "training_config.json"
HISTORY_FILE = "history.jsonl"


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """What a run gave.

    Attributes:
        folder: the folder with the preset, metrics.json, training_config.json and history.jsonl.
        metrics: what metrics.json holds.
    """

    folder: Path
    metrics: dict[str, Any]


def write_run(task: Any, metrics: dict[str, Any], config: Settings, folder: Path) -> None:
    """Write the preset of a task, the metrics and the settings."""
    task.save_to_preset(str(folder))
    (folder / METRICS_FILE).write_text(plain_json(metrics, indent=2) + "\n", encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config.to_json(), encoding="utf-8")
