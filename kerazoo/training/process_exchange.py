"""Words that the processes of a run exchange, by what its backend offers, and how one is lost."""

import atexit
import functools
import os
import re
import sys
from typing import Any

import keras
import numpy as np

from kerazoo.training.distribution import Distribution

LONGEST = 4096
"""Bytes of what one process says."""

_LOST_ON_JAX = re.compile(r"\bGloo\b|\bNCCL\b|coordination service|by peer")
_LOST_ON_TENSORFLOW = ("UnavailableError", "AbortedError")
_ABORTED = "Collective ops is aborted"


def exchange(devices: Distribution, words: str) -> list[str]:
    """Tell all processes of a run something, and return what each has told, by its number.

    It returns when all have called it.

    Args:
        devices: those of the run, of several processes.
        words: at most `LONGEST` bytes.

    Raises:
        Exception: if a process has ended, what the backend raises; see `is_lost_process`.
    """
    own = np.zeros(LONGEST, "int32")
    content = np.frombuffer(words.encode(), "uint8")
    own[: len(content)] = content
    gather = {"tensorflow": _gathered_on_tensorflow, "jax": _gathered_on_jax}
    told = gather[keras.config.backend()](devices, own).reshape(devices.processes, -1, LONGEST)
    # The first replica of each process says what all of that process say.
    return [row[0].astype("uint8").tobytes().rstrip(b"\0").decode() for row in told]


def _gathered_on_tensorflow(devices: Distribution, own: np.ndarray) -> np.ndarray:
    import tensorflow as tf

    strategy = devices.engine
    gathered = strategy.run(_gathering(), args=(tf.constant(own[None]),))
    return np.asarray(strategy.experimental_local_results(gathered)[0])


@functools.cache
def _gathering() -> Any:
    """Return what gathers rows, traced once."""
    import tensorflow as tf

    @tf.function(autograph=False)
    def gather(own: Any) -> Any:
        # Replicas that are given the very same tensor would gather it once.
        return tf.distribute.get_replica_context().all_gather(tf.identity(own), axis=0)

    return gather


def _gathered_on_jax(devices: Distribution, own: np.ndarray) -> np.ndarray:
    from jax.experimental import multihost_utils

    return np.asarray(multihost_utils.process_allgather(own))


def is_lost_process(error: BaseException) -> bool:
    """Return whether an error of the backend says that another process cannot be reached."""
    backend, message = keras.config.backend(), str(error)
    if backend == "tensorflow":
        import tensorflow as tf

        return isinstance(error, tf.errors.OpError) and (
            type(error).__name__ in _LOST_ON_TENSORFLOW or _ABORTED in message
        )
    if backend == "jax":
        import jax

        is_of_jax = isinstance(error, (jax.errors.JaxRuntimeError, ValueError))
        return is_of_jax and _LOST_ON_JAX.search(message) is not None
    return False


def leave_without_the_others() -> None:
    """Have this process end when it is done; JAX would wait minutes for a process that is lost."""
    if keras.config.backend() == "jax":
        atexit.register(_leave)  # what is registered last is called first


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
