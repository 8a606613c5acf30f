"""Train on 4, 5 and 1 rows as one of the processes of a strategy; write gradient and losses.

Usage: python accumulate_as_process.py STRATEGY PARTS FILE
"""

import sys
from pathlib import Path

import numpy as np

# Before anything else computes: hosts find each other when the process starts.
from kerazoo.training.distribution import from_name

BATCHES = (0, 4, 9, 10)


def trained(devices, parts, make_optimizer, batches=BATCHES):
    """A task that is trained on some batches, and the loss of each."""
    import keras
    from batches_of_tasks import masked_words, ready
    from keras import tree

    keras.config.disable_traceback_filtering()
    with devices.scope():
        task, *rows = ready(masked_words, BATCHES[-1])
        task.compile(make_optimizer())
        task.accumulate(parts)
        losses = []
        for begin, end in zip(batches, batches[1:], strict=False):
            some = slice(begin, end)
            x, y, weights = tree.map_structure(lambda values, some=some: values[some], rows)
            options = {"batch_size": 99, "verbose": 0}
            losses += task.fit(x, y, sample_weight=weights, **options).history["loss"]
    return task, losses


def main(strategy, parts, file):
    """Measure and write."""
    import keras
    from batches_of_tasks import gradients_of

    from kerazoo.optimizers.adamw import create_optimizer

    devices = from_name(strategy)
    task, _ = trained(devices, parts, lambda: keras.optimizers.SGD(1.0, momentum=0.9), BATCHES[:2])
    gradient = {f"gradient_{number}": g for number, g in enumerate(gradients_of(task))}
    _, losses = trained(devices, parts, lambda: create_optimizer(1e-4, 0.01, 1.0, "stop"))
    np.savez(file, losses=losses, **gradient)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
