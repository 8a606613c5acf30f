"""Write a task as a SavedModel that takes raw text and that stock TensorFlow Serving serves."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

import kerazoo
from kerazoo.export.description import DESCRIPTION_FILE
from kerazoo.export.version_folder import SAVED_MODEL_FILE, is_version_name
from kerazoo.export.warmup import write_warmup
from kerazoo.tasks.serving_signature import ServingSignature

_IN_TENSORFLOW = """
import sys
from kerazoo.tasks.registry import task_class
task = task_class(sys.argv[1]).from_preset(sys.argv[2])
print(task.export(sys.argv[3]))
"""


def export_task(task: Any, base_dir: str | Path) -> Path:
    """Export a task as the next version of a served model.

    The version's folder appears at once and whole: everything is written under a name that no
    server looks at, then renamed. Weights are written once. A task that runs on JAX or PyTorch is
    traced by a second process under TensorFlow, from a temporary preset.

    Args:
        task: a kerazoo task with a preprocessor.
        base_dir: the model's folder; `1`, `2`, … are its versions.

    Returns:
        The folder of the version written.

    Raises:
        NotADirectoryError: if `base_dir` is a file.
        ValueError: if `base_dir` holds something else than versions of a model.
    """
    base_dir = Path(base_dir)
    check_base_folder(base_dir)
    if keras.config.backend() != "tensorflow":
        return _export_in_tensorflow(task, base_dir)
    base_dir.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=base_dir))
    try:
        _write(task, unfinished, base_dir.name)
        unfinished.chmod(0o755)
        return _publish(unfinished, base_dir)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write(task: Any, folder: Path, model_name: str) -> None:
    signatures = task.serving_signatures()
    functions = {name: _trace(signature) for name, signature in signatures.items()}
    module = tf.Module()
    # Only the variables, found through the traced functions: a Keras model inside a tf.Module
    # loads in Python and fails in the server.
    module.weights = _unique(v for function in functions.values() for v in function.variables)
    tf.saved_model.save(module, str(folder), signatures=functions)
    requests = [(name, signature.example) for name, signature in signatures.items()]
    write_warmup(folder, requests, model_name)
    _write_extra(task, folder)


def _trace(signature: ServingSignature) -> Any:
    def function(*arguments: tf.Tensor) -> dict[str, tf.Tensor]:
        named = {spec.name: value for spec, value in zip(signature.inputs, arguments, strict=True)}
        return signature.function(**named)

    return tf.function(function, autograph=False).get_concrete_function(*signature.inputs)


def _unique(variables: Iterable[tf.Variable]) -> list[tf.Variable]:
    return list({id(variable): variable for variable in variables}.values())


def _write_extra(task: Any, folder: Path) -> None:
    """Write what people and tools may want to know; the server itself ignores this folder."""
    file = folder / DESCRIPTION_FILE
    file.parent.mkdir(exist_ok=True)
    description = {
        "task": task.task_name,
        "labels": getattr(task, "labels", None),
        "pairs": task.pairs,
        "sequence_length": task.preprocessor.sequence_length,
        "word_separator": getattr(task.preprocessor, "word_separator", None),
        "parameters": task.count_params(),
        "versions": {
            "kerazoo": kerazoo.__version__,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
        },
    }
    text = json.dumps(description, ensure_ascii=False, indent=2) + "\n"
    file.write_text(text, encoding="utf-8")
    task.preprocessor.tokenizer.save_assets(str(file.parent))


def check_base_folder(base_dir: str | Path) -> None:
    """Raise unless versions of a served model may be written to a folder.

    Args:
        base_dir: the model's folder, which need not exist.

    Raises:
        NotADirectoryError: if it is a file.
        ValueError: if it holds something else than versions of a model, or lies within a version.
    """
    base_dir = Path(base_dir)
    for parent in base_dir.absolute().parents:
        if (parent / SAVED_MODEL_FILE).is_file():
            raise ValueError(
                f"{str(parent)!r} is a version of a served model, and nothing else belongs into "
                f"it; choose another output. Received: base_dir={str(base_dir)!r}"
            )
    if not base_dir.exists():
        return
    if not base_dir.is_dir():
        raise NotADirectoryError(
            f"A model's versions are folders inside a folder, and this is a file; choose another "
            f"output. Received: base_dir={str(base_dir)!r}"
        )
    names = [child.name for child in base_dir.iterdir() if not child.name.startswith(".")]
    foreign = [n for n in names if not is_version_name(n) and not n.startswith("unfinished-")]
    known_files = {"README.md", "batching_params.pbtxt", "models.config"}
    foreign = [name for name in foreign if name not in known_files]
    if foreign:
        raise ValueError(
            f"The folder holds other things than versions of a served model ({foreign[0]!r}); "
            f"choose another output. Received: base_dir={str(base_dir)!r}"
        )


def _publish(unfinished: Path, base_dir: Path) -> Path:
    """Rename to the next free version; another export may take it first, so try again."""
    while True:
        taken = [int(c.name) for c in base_dir.iterdir() if is_version_name(c.name)]
        version = base_dir / str(max(taken, default=0) + 1)
        try:
            unfinished.rename(version)
        except OSError:
            if not version.exists():
                raise
        else:
            return version


def _export_in_tensorflow(task: Any, base_dir: Path) -> Path:
    with tempfile.TemporaryDirectory(prefix="kerazoo-export-") as preset:
        task.save_to_preset(preset)
        environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
        command = [sys.executable, "-c", _IN_TENSORFLOW]
        command += [task.task_name, preset, str(base_dir.absolute())]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(
            f"The export under TensorFlow failed: {lines[-1]} Received: base_dir={str(base_dir)!r}"
        )
    return Path(result.stdout.strip().splitlines()[-1])
