"""What a training run leaves in its folder: the preset, the metrics and the settings."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from kerazoo.training.settings import Settings

METRICS_FILE = "metrics.json"
CONFIG_FILE = "training_config.json"


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """What a run gave.

    Attributes:
        folder: the folder with the preset, metrics.json and training_config.json.
        metrics: what metrics.json holds.
    """

    folder: Path
    metrics: dict[str, Any]


def write_run(task: Any, metrics: dict[str, Any], config: Settings, folder: Path) -> None:
    """Write the preset of a task, the metrics and the settings."""
    task.save_to_preset(str(folder))
    text = json.dumps(metrics, indent=2, ensure_ascii=False) + "\n"
    (folder / METRICS_FILE).write_text(text, encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config.to_json(), encoding="utf-8")
