"""AdamW as BERT is fine-tuned with it: no decay of biases and layer norms."""

from collections.abc import Sequence
from typing import Any

import keras

from kerazoo.optimizers.fused_adam import FusedAdam
from kerazoo.optimizers.guarded_update import GuardedUpdate

# On PyTorch an AdamW of Keras is of another class, which updates all weights at once. Subclasses
# do not get it by themselves.
_AdamW: Any = keras.optimizers.AdamW
if keras.backend.backend() == "torch":
    _AdamW = type(keras.optimizers.AdamW())

_UNDECAYED_NAMES = ("bias", "gamma", "beta")


def decays(variable: keras.Variable) -> bool:
    """Return whether weight decay acts on a variable.

    The reference implementation decays all weights but biases and layer norms. Here these are the
    variables of fewer than two axes, and those named as biases and norms name theirs.
    """
    return len(variable.shape) > 1 and variable.name not in _UNDECAYED_NAMES


@keras.saving.register_keras_serializable(package="kerazoo")
class BertAdamW(GuardedUpdate, FusedAdam, _AdamW):
    """`keras.optimizers.AdamW` that decays no bias and no layer norm, and may be guarded.

    Keras's own keeps its list of exclusions outside its config, so that a reloaded optimizer decays
    everything. Here the rule belongs to the class: see `decays`.
    """

    def build(self, var_list: Sequence[keras.Variable]) -> None:
        """Create the moments of `var_list` and leave its biases and norms out of the decay."""
        if not self.built:
            self.exclude_from_weight_decay(var_list=[v for v in var_list if not decays(v)])
        super().build(var_list)

    def _apply_weight_decay(self, variables: Sequence[keras.Variable]) -> None:
        """Decay, if anything does; at a rate of 0 it is Adam."""
        if self.weight_decay and any(map(self._use_weight_decay, variables)):
            super()._apply_weight_decay(variables)


def create_optimizer(
    learning_rate: float | keras.optimizers.schedules.LearningRateSchedule,
    weight_decay: float = 0.01,
    clip_norm: float = 0.0,
    on_non_finite: str | None = None,
) -> BertAdamW:
    """Create the optimizer of a fine-tuning run.

    Decoupled weight decay as in Loshchilov & Hutter 2017, https://arxiv.org/abs/1711.05101; betas
    0.9 and 0.999, epsilon 1e-6 as in Google's BERT.

    Args:
        learning_rate: a rate or a schedule.
        weight_decay: float, share of a weight that one step at rate 1 takes away.
        clip_norm: float, the longest gradient over all weights together; 0 is no limit.
        on_non_finite: what a step does whose gradient is not finite; see `GuardedUpdate`.

    Returns:
        The optimizer, not built yet.

    Raises:
        ValueError: if `weight_decay` or `clip_norm` is negative, or `on_non_finite` unknown.
    """
    options: dict[str, Any] = {"weight_decay": weight_decay, "clip_norm": clip_norm}
    for name, value in options.items():
        if value < 0:
            raise ValueError(f"`{name}` must not be negative. Received: {name}={value!r}")
    optimizer = BertAdamW(
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        epsilon=1e-6,
        global_clipnorm=clip_norm or None,
    )
    optimizer.guard(on_non_finite)
    return optimizer
