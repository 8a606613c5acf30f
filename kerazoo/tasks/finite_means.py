"""Means of losses and metrics over the steps in which they are finite numbers."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import Tensor
from kerazoo.tasks.replicas import are_all_finite, results_of_all

# It goes before a Keras model, whose methods it calls, hence Any.
_ModelBase: Any = object


class FiniteMeans(_ModelBase):
    """Leaves a step out of all means if one of them would not be finite any more.

    So it is where the optimizer leaves such steps out; else the mean loss shows that something is
    wrong. Replicas leave a step out together. Means of no step at all are NaN.
    """

    def train_step(self, *arguments: Any) -> Any:
        """Train on a batch; see `keras.Model.train_step` of each backend."""
        if not self._leaves_steps_out:
            return super().train_step(*arguments)
        if keras.backend.backend() == "jax":
            return self._pure_train_step(*arguments)
        known = {id(variable): ops.copy(variable.value) for variable in self.metrics_variables}
        super().train_step(*arguments)
        variables = self.metrics_variables
        sums = [variable.value for variable in variables]
        # Metrics may make their variables in the first step; they begin at zero.
        before = [known.get(id(variable), ops.zeros_like(variable)) for variable in variables]
        for variable, value in zip(variables, _if_finite(sums, before), strict=True):
            variable.assign(value)
        if keras.backend.backend() == "tensorflow":
            return results_of_all(self)
        return self.get_metrics_result()

    def get_metrics_result(self) -> Any:
        """Return the means by name; see `keras.Model`, which gives zeros for those of nothing."""
        results = super().get_metrics_result()
        if not self._leaves_steps_out:
            return results
        is_any = ops.convert_to_tensor(self._loss_tracker.count.value) > 0
        return keras.tree.map_structure(lambda mean: ops.where(is_any, mean, np.nan), results)

    @property
    def _leaves_steps_out(self) -> bool:
        return bool(getattr(self.optimizer, "leaves_steps_out", False))

    def _pure_train_step(self, state: tuple[Any, ...], data: Any) -> Any:
        """Do it on JAX, where variables come and go in a tuple, the sums of metrics last."""
        _, (*others, sums) = super().train_step(state, data)
        sums = _if_finite(sums, state[-1])
        mapping = list(zip(self.metrics_variables, sums, strict=True))
        with keras.StatelessScope(state_mapping=mapping):
            logs = self.get_metrics_result()
        return logs, (*others, sums)


def _if_finite(sums: Sequence[Tensor], before: Sequence[Tensor]) -> list[Tensor]:
    """Return the sums if all are finite, else those of before."""
    finite = [ops.all(ops.isfinite(ops.cast(value, "float32"))) for value in sums]
    are_finite = ops.all(ops.stack(finite))
    if keras.backend.backend() == "tensorflow":
        are_finite = are_all_finite(are_finite)
    return [ops.where(are_finite, *values) for values in zip(sums, before, strict=True)]
