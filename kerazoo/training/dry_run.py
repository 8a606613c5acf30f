"""A dry run: the step that devices would make, compiled and made once without them."""

import time
from collections.abc import Callable
from typing import Any

import keras

from kerazoo.training.distribution import Distribution
from kerazoo.training.progress import SILENT, Progress
from kerazoo.training.settings import AUTO, NO_STRATEGY, TPU


def dry_run_of(name: str) -> Distribution:
    """Return this machine in the place of the devices that a name stands for.

    Args:
        name: "tpu", or "auto", whose step has one shape and is compiled with XLA; or "none".

    Raises:
        ValueError: for another name or backend.
    """
    name = TPU if name == AUTO else name
    if keras.config.backend() != "tensorflow":
        raise ValueError(
            "A dry run compiles the step of a TPU with TensorFlow; set KERAS_BACKEND=tensorflow. "
            f"Received: KERAS_BACKEND={keras.config.backend()}"
        )
    if name not in (TPU, NO_STRATEGY):
        raise ValueError(
            f"A dry run compiles the step of a TPU; choose {TPU}, or {NO_STRATEGY} for steps of "
            f"any shape. Received: strategy={name!r}"
        )
    return Distribution(name, "a dry run on this machine")


def one_step(fit: Callable[..., Any], progress: Progress = SILENT) -> dict[str, Any]:
    """Train on one batch and measure one.

    Args:
        fit: calls `fit` of a compiled task with the options it is given.
        progress: is told what came of it.

    Returns:
        "seconds", of compiling and computing both.
    """
    began = time.perf_counter()
    fit(steps_per_epoch=1, epochs=1, validation_steps=1, verbose=0)
    seconds = round(time.perf_counter() - began, 1)
    progress.say(f"XLA compiled the step of training and that of evaluation ({seconds} s).")
    return {"dry_run": True, "seconds": seconds}
