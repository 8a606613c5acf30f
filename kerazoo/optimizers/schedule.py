"""The learning rate of BERT's fine-tuning: a linear rise, then a linear fall to zero."""

from typing import Any

import keras
from keras import ops

from kerazoo.checks import check_positive


@keras.saving.register_keras_serializable(package="kerazoo")
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Rise linearly from 0 to `peak` in `warmup_steps`, then fall linearly to 0 at `total_steps`.

    Devlin et al. 2018, https://arxiv.org/abs/1810.04805, appendix A.2. At step s (from 0) the rate
    is peak * s / warmup for s < warmup, and peak * (total - s) / (total - warmup) from there on,
    never below 0.

    Args:
        peak: float, the highest rate.
        warmup_steps: int, steps of the rise; 0 begins at `peak`.
        total_steps: int, steps of the whole run.

    Raises:
        ValueError: if `peak` or `total_steps` is not above zero, or the rise does not fit.
    """

    def __init__(self, peak: float, warmup_steps: int, total_steps: int) -> None:
        """Check and keep the arguments."""
        super().__init__()
        check_positive("peak", peak)
        check_positive("total_steps", total_steps)
        if not 0 <= warmup_steps <= total_steps:
            raise ValueError(
                "`warmup_steps` must lie between 0 and `total_steps`. "
                f"Received: warmup_steps={warmup_steps}, total_steps={total_steps}"
            )
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps

    def __call__(self, step: Any) -> Any:
        """Return the rate at `step`, a scalar of any number type, as float32."""
        # The optimizer's counter is an integer, which may not be compared with a float.
        step = ops.cast(step, "float32")
        rise = step / max(1, self.warmup_steps)
        fall = (self.total_steps - step) / max(1, self.total_steps - self.warmup_steps)
        rate = ops.where(step < self.warmup_steps, rise, ops.maximum(fall, 0.0))
        return self.peak * rate

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "total_steps": self.total_steps,
        }
