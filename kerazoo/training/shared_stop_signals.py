"""Signals that reach one process of a run, or each in another step, and stop all after the same."""

import json
import time

from kerazoo.training.meeting import Exchange
from kerazoo.training.stop_signals import StopSignals

_LOOK_EVERY_SECONDS = 1.0


class SharedStopSignals(StopSignals):
    """Has the processes tell each other, about once a second, of the signals that they noted.

    After which step they do it next is what the first one says, as all have to do it together.

    Args:
        exchange: see `Exchange`.
    """

    def __init__(self, exchange: Exchange) -> None:
        """Nothing was told yet."""
        super().__init__()
        self._exchange = exchange
        self._next_step = 0
        self._looked = (0, time.monotonic())

    def are_due(self, step: int) -> bool:
        """Return whether one of the processes has noted a signal, and all know it."""
        if step < self._next_step:
            return False
        words = json.dumps([self.received, step + self._steps_ahead(step)])
        told = [json.loads(each) for each in self._exchange(words)]
        self._next_step = told[0][1]
        noted = [number for number, _ in told if number is not None]
        if noted:
            # The first one's is everybody's, so that all end alike. One that came just now, which
            # the others do not know, is told them the next time.
            self.received = noted[0]
        return bool(noted)

    def _steps_ahead(self, step: int) -> int:
        """Return how many steps take a second, by those since the last time."""
        (before, since), now = self._looked, time.monotonic()
        self._looked = step, now
        return max(1, int(_LOOK_EVERY_SECONDS * (step - before) / max(now - since, 1e-6)))
