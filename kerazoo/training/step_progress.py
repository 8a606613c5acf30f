"""A Keras callback that shows a run of so many steps as one bar, with its speed."""

from typing import Any, Self

from kerazoo.training.progress import Progress
from kerazoo.training.run_progress import RunProgress, listed


class StepProgress(RunProgress):
    """Show the steps of a whole run, and say each evaluation; see `RunProgress`.

    Args:
        progress: where to show it.
        total_steps: int, steps of the run.
        tokens_per_step: float, real tokens of a batch on average.
        first_step: int, steps that were done before.
        history: what was said before.

    Attributes:
        history: for each evaluation a dict of the step, losses and metrics, the seconds of training
            since the last one, the real tokens a second, and the share of the time that was spent
            waiting for data.
    """

    def __init__(
        self,
        progress: Progress,
        total_steps: int,
        tokens_per_step: float,
        first_step: int = 0,
        history: list[dict[str, Any]] | None = None,
    ) -> None:
        """Begin where the run is."""
        super().__init__(progress, first_step, history)
        self._total_steps = total_steps
        self._tokens_per_step = tokens_per_step

    def __enter__(self) -> Self:
        """Show the bar."""
        bar = self._progress.bar("pre-training", self._total_steps)
        self._advance = self._bar.enter_context(bar)
        self._advance(self.step, "")
        return self

    def begin(self, results: dict[str, Any]) -> None:
        """Keep and say what was measured before the first step."""
        self._keep(results, 0.0, None, None)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Keep and say the results."""
        self._stop_clock()
        share = self._waiting_share()
        self._keep(logs or {}, self._seconds or 0.0, self._tokens_per_second(), share)

    def _keep(
        self, logs: dict[str, Any], seconds: float, speed: int | None, waiting: float | None
    ) -> None:
        results = {name: float(value) for name, value in logs.items()}
        self.history.append(
            {
                "step": self.step,
                **results,
                "seconds": round(seconds, 2),
                "tokens_per_second": speed,
                "waiting_share": waiting,
            }
        )
        said = [listed(results)]
        if speed is not None:
            said.append(f"{speed:,} tokens/s")
        if waiting is not None:
            said += self._waiting()
        self._progress.say(f"step {self.step}/{self._total_steps}: {', '.join(said)}")

    def _tokens_per_second(self) -> int | None:
        """Return the speed of the steps that were timed; None if there was none."""
        steps = self._timed_steps()
        if not steps or not self._seconds:
            return None
        return round(steps * self._tokens_per_step / self._seconds)
