"""Adam's step on TensorFlow as one operation for each weight."""

from typing import Any, NamedTuple

import keras

from kerazoo.axes import Tensor

# It goes before Keras's AdamW, whose methods it calls, hence Any.
_AdamWBase: Any = object


class StepScalars(NamedTuple):
    """What a step has in common for all weights, each () float32."""

    learning_rate: Tensor
    beta_1_power: Tensor
    beta_2_power: Tensor


class FusedAdam(_AdamWBase):
    """Lets `keras.optimizers.AdamW` compute a step with TensorFlow's own operation for Adam.

    The formula is the same. Keras writes it as some twenty operations for each weight, and traces
    the learning rate anew for each weight that decays: half of the time until the first step. Where
    Keras does more than this formula, and on other backends, it is Keras's own step.
    """

    def _backend_apply_gradients(self, grads: list[Any], variables: list[Any]) -> None:
        """Clip, decay and update; see `keras.Optimizer`."""
        is_more = self.amsgrad or self.use_ema or self.gradient_accumulation_steps
        if keras.backend.backend() != "tensorflow" or is_more:
            super()._backend_apply_gradients(grads, variables)
            return
        scalars = self.step_scalars()
        for variable, grad in zip(variables, self._clip_gradients(grads), strict=True):
            self.decay_and_step(variable.value, grad, scalars)

    def step_scalars(self) -> StepScalars:
        """Return what the next step has in common for all weights, on TensorFlow."""
        import tensorflow as tf

        step = tf.cast(self.iterations.value + 1, tf.float32)
        powers = (tf.pow(tf.constant(beta), step) for beta in (self.beta_1, self.beta_2))
        return StepScalars(tf.cast(self.learning_rate, tf.float32), *powers)

    def decay_and_step(self, variable: Any, gradient: Any, scalars: StepScalars) -> None:
        """Decay a variable of TensorFlow, and then go a step.

        Args:
            variable: the `tf.Variable`; of a replicated one the part of the replica.
            gradient: its gradient, of the same shape.
            scalars: of this step.
        """
        import tensorflow as tf

        dtype = variable.dtype
        rate, *powers = (tf.cast(scalar, dtype) for scalar in scalars)
        if self.weight_decay and self._use_weight_decay(variable):
            variable.assign_sub(variable * (tf.cast(self.weight_decay, dtype) * rate))
        if self.amsgrad:
            self.update_step(gradient, variable, rate)
            return
        index = self._get_variable_index(variable)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=powers[0],
            beta2_power=powers[1],
            lr=rate,
            beta1=tf.constant(self.beta_1, dtype),
            beta2=tf.constant(self.beta_2, dtype),
            epsilon=tf.constant(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )
