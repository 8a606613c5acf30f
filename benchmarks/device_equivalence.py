"""How far several devices, or a batch in parts, are from one device and whole batches.

Command:   .venv/bin/python benchmarks/device_equivalence.py [--backends tensorflow jax torch]
Time:      30 minutes on two slow cores, most of it on JAX, which compiles each size of a batch

Compared:  for each kind of loss the gradient of the first batch (as a share of its length), the
           weights after four steps of SGD (as a share of how far they moved), the loss of each of
           four steps of AdamW at 1e-4 (relative), and the outputs of `predict` (largest
           difference), with
           those of one device on whole batches.
Same work: the tasks of tests/batches_of_tasks.py, in float32, without dropout; batches of 4, 5, 3
           and 1 rows of different weights, so that devices get unequal parts, and one gets none.
           Devices are logical CPUs of this machine.
"""

import argparse
import functools
import json
import operator
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"
LOSSES = ("classes", "language_model_beside", "masked_words", "crf_tags")
WAYS = {
    "tensorflow": (("mirrored", 2, 1), ("mirrored", 2, 2), ("mirrored", 3, 1), ("none", 1, 2)),
    "jax": (
        *(("data_parallel", 2, 1), ("data_parallel", 2, 2), ("model_parallel", 2, 1)),
        ("none", 1, 2),
    ),
    "torch": (("none", 1, 2),),
}
"""For each backend strategies, devices, and parts of a batch that are computed in turns."""
BATCHES = (0, 4, 9, 12, 13)
COLUMNS = ("gradient", "weights, SGD", "losses, AdamW", "predictions")


def in_batches(x: Any, y: Any, weights: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the rows of each batch."""
    from keras import tree

    for begin, end in zip(BATCHES, BATCHES[1:], strict=False):
        rows = slice(begin, end)
        yield tuple(
            None if part is None else tree.map_structure(operator.itemgetter(rows), part)
            for part in (x, y, weights)
        )


def train(loss: str, devices: Any, parts: int, optimizer: Any) -> tuple[Any, list[Any], list[Any]]:
    """Train a fresh task; return it, the gradient of the first batch and the losses."""
    import batches_of_tasks
    import keras

    with devices.scope():
        task, *rows = batches_of_tasks.ready(getattr(batches_of_tasks, loss), BATCHES[-1])
        task.compile(optimizer())
        task.accumulate(parts)
        losses, gradient = [], []
        for x, y, weights in in_batches(*rows):
            options = {"batch_size": 99, "verbose": 0}
            history = task.fit(x, y, sample_weight=weights, **options).history
            losses.append(history["loss"][0])
            if not gradient and hasattr(task.optimizer, "momentums"):
                gradient = [keras.ops.convert_to_numpy(m) for m in task.optimizer.momentums]
    return task, gradient, losses


def outcome(loss: str, devices: Any, parts: int) -> dict[str, Any]:
    """Return what one way of computing gives."""
    import batches_of_tasks
    import keras
    import numpy as np
    from keras import ops, tree

    from kerazoo.optimizers.adamw import create_optimizer

    def flat(values: list[Any]) -> Any:
        return np.concatenate([np.asarray(v, "float64").ravel() for v in values])

    sgd = lambda: keras.optimizers.SGD(0.1, momentum=0.9)  # noqa: E731
    task, gradient, _ = train(loss, devices, parts, sgd)
    begin, x, *_ = batches_of_tasks.ready(getattr(batches_of_tasks, loss), BATCHES[-1])
    weights = [ops.convert_to_numpy(v) for v in task.trainable_weights]
    moved = flat(weights) - flat([ops.convert_to_numpy(v) for v in begin.trainable_weights])
    _, _, losses = train(loss, devices, parts, lambda: create_optimizer(1e-4, 0.01, 1.0, "stop"))
    with devices.scope():
        task.set_weights(begin.get_weights())
        outputs = tree.flatten(task.predict(x, batch_size=5, verbose=0))
    return {
        "gradient": flat(gradient),
        "weights": moved,
        "losses": np.array(losses),
        "outputs": flat([np.maximum(value, -1e6) for value in outputs]),
    }


def compare(found: dict[str, Any], one: dict[str, Any]) -> list[float]:
    """Return the four measures."""
    import numpy as np

    def share(name: str) -> float:
        return float(np.linalg.norm(found[name] - one[name]) / np.linalg.norm(one[name]))

    losses = np.abs(found["losses"] - one["losses"]) / np.abs(one["losses"])
    outputs = np.abs(found["outputs"] - one["outputs"])
    return [share("gradient"), share("weights"), float(losses.max()), float(outputs.max())]


@functools.cache
def devices_of(strategy: str, count: int) -> Any:
    """Return the first devices of this machine."""
    import keras

    from kerazoo.training.distribution import Distribution, from_name

    if strategy == "none":
        return from_name("none")
    if strategy == "mirrored":
        import tensorflow as tf

        names = [f"CPU:{number}" for number in range(count)]
        return Distribution(strategy, "", tf.distribute.MirroredStrategy(names))
    names = keras.distribution.list_devices()[:count]
    if strategy == "data_parallel":
        engine = keras.distribution.DataParallel(devices=names, auto_shard_dataset=False)
        return Distribution(strategy, "", engine)
    from kerazoo.training.model_layout import ModelLayout

    return Distribution(strategy, "", ModelLayout.of(names))


def measure_backend(ways: list[Any], losses: list[str], kept: Path) -> None:
    """Measure in this process, whose backend is chosen, and print a line of JSON for each row.

    What one device gives is kept in a folder for the next process.
    """
    sys.path.insert(0, str(TESTS))
    import keras
    import numpy as np
    import tensorflow as tf

    count = max(devices for _, devices, _ in ways)
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * count
    )
    for loss in losses:
        file = kept / f"{keras.config.backend()}-{loss}.npz"
        if not file.exists():
            np.savez(file, **outcome(loss, devices_of("none", 1), 1))
        one = np.load(file)
        for strategy, devices, parts in ways:
            measures = compare(outcome(loss, devices_of(strategy, devices), parts), one)
            row = [keras.config.backend(), strategy, devices, parts, loss, *measures]
            print(json.dumps(row), flush=True)


def main() -> None:
    """Run each backend in a process of its own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backends", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--losses", nargs="+", default=list(LOSSES))
    parser.add_argument("--ways", help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ways:
        measure_backend(json.loads(given.ways), given.losses, given.kept)
        return
    with tempfile.TemporaryDirectory() as kept:
        run_all(given, kept)


def run_all(given: argparse.Namespace, kept: str) -> None:
    """Print the table, row by row."""
    print("| backend | strategy | devices | turns | loss | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * len(COLUMNS))
    for backend in given.backends:
        environment = {
            **os.environ,
            "KERAS_BACKEND": backend,
            "CUDA_VISIBLE_DEVICES": "-1",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=3",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # compiling takes most of the time
        }
        # A second MirroredStrategy of a process would count its collectives from the start again.
        for way in WAYS[backend]:
            command = [sys.executable, __file__, "--ways", json.dumps([way])]
            command += ["--kept", kept, "--losses", *given.losses]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
            with subprocess.Popen(command, env=environment, **pipes) as child:
                for line in child.stdout or ():
                    *names, a, b, c, d = json.loads(line)
                    measures = " | ".join(f"{value:.0e}" for value in (a, b, c, d))
                    print(f"| {' | '.join(map(str, names))} | {measures} |", flush=True)
            if child.returncode:
                raise SystemExit(f"{backend} {way} failed; run it alone: {' '.join(command)}")


if __name__ == "__main__":
    main()
