"""Updates of weights that are left out where a gradient is not finite, without asking the host."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerazoo.axes import Tensor
from kerazoo.checks import check_one_of
from kerazoo.optimizers.fused_adam import StepScalars
from kerazoo.optimizers.on_non_finite import ON_NON_FINITE, SKIP, STOP

# The optimizer goes before one of Keras's, whose methods it calls, hence Any.
_OptimizerBase: Any = object


class GuardedUpdate(_OptimizerBase):
    """Lets a `FusedAdam` leave weights and slots as they are where a gradient is not finite.

    Whether the gradients are finite is known from their norm over all weights, which clipping
    needs anyway; that and the numbers of such steps stay on the device. Keras's counter of steps
    goes on, so that the learning rate does too.

    Under a strategy of TensorFlow the gradients are summed over the replicas first, so that all
    know the same norm, clip by it, and leave out the same steps.

    Attributes:
        on_non_finite: "skip" leaves such a step out, "stop" all later ones too, so that the weights
            stay those of before until somebody looks; None is an unguarded optimizer.
        non_finite_steps: () int32 variable, steps that were left out.
        non_finite_step: () int32 variable, the number of such a step, from 1: with "stop" of the
            first one, with "skip" of the last; 0 if there was none.
    """

    on_non_finite: str | None = None
    _norm: Any = None
    _does_update: Any = None

    @property
    def leaves_steps_out(self) -> bool:
        """Whether training goes on after a step that was left out."""
        return self.on_non_finite == SKIP

    def guard(self, on_non_finite: str | None) -> None:
        """Choose what to do, before the optimizer is built.

        Raises:
            ValueError: if it is neither "stop", "skip" nor None.
        """
        if on_non_finite is not None:
            check_one_of("on_non_finite", on_non_finite, ON_NON_FINITE)
        self.on_non_finite = on_non_finite

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Create the slots, and the guard's counters.

        Raises:
            ValueError: if the optimizer does more than Adam, and cannot be guarded or distributed.
        """
        is_new = not self.built
        if is_new and keras.backend.backend() == "tensorflow":
            self._check_fused()
        super().build(variables)
        if is_new and self.on_non_finite is not None:
            self.non_finite_steps, self.non_finite_step = (
                self.add_variable((), "zeros", "int32", aggregation="only_first_replica", name=name)
                for name in ("non_finite_steps", "non_finite_step")
            )

    def _check_fused(self) -> None:
        if not self.is_fused and (self.on_non_finite is not None or _is_distributed()):
            raise ValueError(
                "`amsgrad`, `use_ema` and `gradient_accumulation_steps` are neither for an "
                "optimizer that leaves steps out nor for several replicas of TensorFlow; "
                "`task.accumulate(n)` computes a batch in n parts. "
                f"Received: amsgrad={self.amsgrad}, use_ema={self.use_ema}, "
                f"gradient_accumulation_steps={self.gradient_accumulation_steps}"
            )

    def apply(self, grads: Sequence[Any], trainable_variables: Any = None) -> None:
        """Update the variables unless a gradient is not finite; see `keras.Optimizer.apply`."""
        is_plain = self.on_non_finite is None and not _is_distributed()
        if not (self.built or is_plain):
            self.build(trainable_variables)
        if _is_distributed():
            pairs = zip(grads, trainable_variables or self._trainable_variables, strict=True)
            grads = [grad for grad, _ in self._all_reduce_sum_gradients(pairs)]
        grads = [_dense(grad) for grad in grads]
        if self.global_clipnorm or self.on_non_finite is not None:
            self._norm = _global_norm(grads) / (self.loss_scale_factor or 1.0)
        if self.on_non_finite is None:
            super().apply(grads, trainable_variables)
        else:
            self._guarded(grads, trainable_variables)
        self._norm = self._does_update = None

    def _guarded(self, grads: Sequence[Any], trainable_variables: Any) -> None:
        """Update unless the norm is not finite, and count."""
        step = self.iterations.value + 1
        is_finite = ops.isfinite(self._norm)
        does_update, is_named = is_finite, ops.logical_not(is_finite)
        if self.on_non_finite == STOP:
            is_first = self.non_finite_steps.value == 0
            does_update = ops.logical_and(is_finite, is_first)
            is_named = ops.logical_and(is_named, is_first)
        named = ops.where(is_named, ops.cast(step, "int32"), self.non_finite_step.value)
        self._update_if(does_update, grads, trainable_variables)
        self.iterations.assign(step)
        self.non_finite_step.assign(named)
        self.non_finite_steps.assign_add(ops.cast(ops.logical_not(is_finite), "int32"))

    def _update_if(self, condition: Tensor, grads: Sequence[Any], variables: Any) -> None:
        """Call Keras's own `apply`, and let it change nothing, undo it, or leave it out."""
        backend = keras.backend.backend()
        if backend == "tensorflow":
            self._does_update = condition
            super().apply(grads, variables)
        elif backend == "jax":
            # XLA makes one loop of the update and the choice; a branch would copy the state.
            changed = [*(variables or self._trainable_variables), *self.variables]
            before = [variable.value for variable in changed]
            super().apply(grads, variables)
            for variable, value in zip(changed, before, strict=True):
                variable.assign(ops.where(condition, variable.value, value))
        elif condition:
            super().apply(grads, variables)

    def step_scalars(self) -> StepScalars:
        """Return Adam's on TensorFlow; of a step that is left out, those that change nothing.

        To stand still by numbers is no slower than to branch, which a replica may not do around
        what it does together with others.
        """
        scalars = super().step_scalars()
        if self._does_update is None:
            return scalars
        still = scalars._replace(learning_rate=0.0, beta_1=1.0, beta_2=1.0)
        pairs = zip(scalars, still, strict=True)
        return StepScalars(*(ops.where(self._does_update, moving, at) for moving, at in pairs))

    def _clip_gradients(self, grads: list[Any]) -> list[Any]:
        """Clip by the norm over all weights, or in one of Keras's other ways.

        On TensorFlow the gradients of a step that is left out become zeros.
        """
        clips = bool(self._norm is not None and self.global_clipnorm)
        scale = ops.minimum(self.global_clipnorm / self._norm, 1.0) if clips else 1.0
        if not clips:
            grads = super()._clip_gradients(grads)
        if self._does_update is not None:
            import tensorflow as tf

            scale = tf.where(self._does_update, scale, 0.0)
            # Unlike a product, NaN times 0 is 0 here.
            return [tf.math.multiply_no_nan(grad, tf.cast(scale, grad.dtype)) for grad in grads]
        return [grad * scale for grad in grads] if clips else grads


def _dense(gradient: Any) -> Any:
    """Return the gradient of an embedding with a row for each token.

    TensorFlow gives a row for each time that a token stands there. Keras squares these one by one,
    for the norm and for Adam, where it is their sum that has to be squared.
    """
    if gradient is None or keras.backend.backend() != "tensorflow":
        return gradient
    import tensorflow as tf

    return tf.convert_to_tensor(gradient)


def _global_norm(grads: Sequence[Any]) -> Tensor:
    """Return the length of all gradients as one vector, () float32.

    It is not finite if one of them is not, or if the square of the length is above 3e38.
    """
    squares = [ops.sum(ops.square(grad)) for grad in grads if grad is not None]
    return ops.sqrt(ops.sum(ops.stack(squares)))


def _is_distributed() -> bool:
    """Return whether a strategy of TensorFlow computes the step."""
    if keras.backend.backend() != "tensorflow":
        return False
    import tensorflow as tf

    return bool(tf.distribute.has_strategy())
