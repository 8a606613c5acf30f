"""Train a tiny task as one of the processes of a strategy, and write what came of it.

Usage: python one_of_two_processes.py STRATEGY FILE
"""

import sys
from pathlib import Path

import numpy as np

# Before anything else computes: hosts find each other when the process starts.
from kerazoo.training.distribution import from_name

ROWS = 9


def trained(devices, path):
    """Train in batches of 4, of which the last has one row; measure and predict; write it all."""
    import keras
    from batches_of_tasks import masked_words, ready
    from keras import ops

    keras.config.disable_traceback_filtering()

    with devices.scope():
        task, x, y, weights = ready(masked_words, ROWS)
        task.compile(keras.optimizers.SGD(1.0))
        options = {"batch_size": 4, "verbose": 0}
        history = task.fit(
            x, y, sample_weight=weights, validation_data=(x, y, weights), shuffle=False, **options
        ).history
        outputs = task.predict(x, **options)
        task.save_weights(path.with_suffix(".weights.h5"))
        values = {f"weight_{n}": ops.convert_to_numpy(v) for n, v in enumerate(task.weights)}
    np.savez(path, outputs=outputs, **values, **history)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    trained(from_name(sys.argv[1]), Path(sys.argv[2]))
