"""How long training waits for the next batch."""

import time
from typing import Any

import keras


class DataWait:
    """Adds up the time that a model's training step spends on getting its batch.

    TensorFlow's and JAX's trainers hand each step an iterator, from which the step takes its batch;
    that is timed. PyTorch's gets batches in another place, and nothing is measured.

    Attributes:
        is_measured: bool, whether it is known.
        seconds: float, so far.
    """

    def __init__(self) -> None:
        """Nothing was waited for yet."""
        self.is_measured = False
        self.seconds = 0.0

    def watch(self, model: Any) -> None:
        """Measure the calls of `fit` of a model, whose training function is made already."""
        step = model.train_function
        if isinstance(step, _TimedStep):
            step = step.step
        self.is_measured = keras.backend.backend() != "torch" and model.steps_per_execution == 1
        if self.is_measured:
            model.train_function = _TimedStep(step, self)


class _TimedStep:
    """A training function whose iterator, its last argument, is timed."""

    def __init__(self, step: Any, wait: DataWait) -> None:
        self.step = step
        self._wait = wait

    def __call__(self, *arguments: Any) -> Any:
        *state, iterator = arguments
        return self.step(*state, _TimedIterator(iterator, self._wait))


class _TimedIterator:
    """An iterator of batches, of TensorFlow or of Python."""

    def __init__(self, iterator: Any, wait: DataWait) -> None:
        self._iterator = iterator
        self._wait = wait

    def __iter__(self) -> "_TimedIterator":
        return self

    def __next__(self) -> Any:
        return self._timed(self._iterator.__next__)

    def get_next(self) -> Any:
        """Return the next batch, as TensorFlow's trainer asks for it."""
        return self._timed(self._iterator.get_next)

    def _timed(self, get: Any) -> Any:
        began = time.perf_counter()
        try:
            return get()
        finally:
            self._wait.seconds += time.perf_counter() - began
