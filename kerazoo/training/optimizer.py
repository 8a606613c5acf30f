"""The optimizer of a run, from its settings."""

from typing import Any

from kerazoo.optimizers.adamw import BertAdamW, create_optimizer
from kerazoo.optimizers.schedule import WarmupLinearDecay


def optimizer_of_run(config: Any, peak: float, total_steps: int) -> BertAdamW:
    """Create the optimizer of a run, whose rate rises and then falls.

    Args:
        config: the settings of the run.
        peak: float, the highest rate.
        total_steps: int, steps of the run.
    """
    schedule = WarmupLinearDecay(peak, config.warmup_steps(total_steps), total_steps)
    return create_optimizer(schedule, config.weight_decay, config.clip_norm, config.on_non_finite)
