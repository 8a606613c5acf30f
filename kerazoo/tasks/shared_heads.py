"""The heads of pre-training, which a preset of one task may hold for another one."""

from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.preset_weights import check_preset_weights
from kerazoo.tasks.registry import TASKS, task_class

TASK_FILE = "task.json"
HEAD_FILE = "task.weights.h5"


def load_shared_heads(task: Any, folder: Path) -> None:
    """Read from another task's preset those heads that the task has too.

    A `BertPretrainer` holds the heads of `MaskedLM` and of `NextSentencePredictor`, and each of
    those one of its two. Weights that are not there stay as they are.

    Args:
        task: a task with a fixed head.
        folder: a preset; one of a backbone, or of a task with another kind of head, has none.
    """
    file = folder / TASK_FILE
    if not file.exists():
        return
    saved = read_json_object(file)
    names = [name for name, (_, class_name) in TASKS.items() if class_name == saved["class_name"]]
    if not names or not task_class(names[0]).has_fixed_head:
        return
    check_preset_weights(folder, HEAD_FILE)
    config = {k: v for k, v in saved["config"].items() if k not in ("backbone", "preprocessor")}
    # Keras files weights by classes and their order, so the task that wrote them must read them.
    other = task_class(names[0])(backbone=task.backbone, compile=False, **config)
    other.load_task_weights(folder / HEAD_FILE)
    backbone = {id(variable) for variable in task.backbone.weights}
    found = {v.path: v for v in other.weights if id(v) not in backbone}
    for variable in task.weights:
        if variable.path in found:
            variable.assign(found[variable.path])
