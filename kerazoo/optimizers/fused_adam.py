"""Adam's step on TensorFlow as one operation for each weight."""

from typing import Any, NamedTuple

import keras

from kerazoo.axes import Tensor

# It goes before Keras's AdamW, whose methods it calls, hence Any.
_AdamWBase: Any = object


class StepScalars(NamedTuple):
    """What a step has in common for all weights, each () float32."""

    learning_rate: Tensor
    beta_1: Tensor
    beta_2: Tensor
    beta_1_power: Tensor
    beta_2_power: Tensor


class FusedAdam(_AdamWBase):
    """Lets `keras.optimizers.AdamW` compute a step with TensorFlow's own operation for Adam.

    The formula is the same. Keras writes it as some twenty operations for each weight, and traces
    the learning rate anew for each weight that decays: half of the time until the first step. Where
    Keras does more than this formula, and on other backends, it is Keras's own step.

    Under a strategy of TensorFlow the gradients have to be those of all replicas together.
    """

    @property
    def is_fused(self) -> bool:
        """Whether TensorFlow's operation has all that a step does."""
        is_more = self.amsgrad or self.use_ema or self.gradient_accumulation_steps
        return keras.backend.backend() == "tensorflow" and not is_more

    def _backend_apply_gradients(self, grads: list[Any], variables: list[Any]) -> None:
        """Clip, decay and update; see `keras.Optimizer`."""
        if not self.is_fused:
            super()._backend_apply_gradients(grads, variables)
            return
        import tensorflow as tf

        def update_all(strategy: Any, grads: list[Any], scalars: StepScalars) -> None:
            for variable, grad in zip(variables, grads, strict=True):
                strategy.extended.update(
                    variable.value, self._decay_and_step, (grad, scalars), group=False
                )

        grads, scalars = self._clip_gradients(grads), self.step_scalars()
        if tf.distribute.has_strategy():
            merge_call = tf.__internal__.distribute.interim.maybe_merge_call
            merge_call(update_all, tf.distribute.get_strategy(), grads, scalars)
            return
        for variable, grad in zip(variables, grads, strict=True):
            self._decay_and_step(variable.value, grad, scalars)

    def step_scalars(self) -> StepScalars:
        """Return what the next step has in common for all weights, on TensorFlow."""
        import tensorflow as tf

        rate = tf.cast(self.learning_rate, tf.float32)
        step = tf.cast(self.iterations.value + 1, tf.float32)
        betas = [tf.constant(beta, tf.float32) for beta in (self.beta_1, self.beta_2)]
        return StepScalars(rate, *betas, *(tf.pow(beta, step) for beta in betas))

    def _decay_and_step(self, variable: Any, gradient: Any, scalars: StepScalars) -> None:
        """Decay a variable of TensorFlow, of a replicated one a replica's, and then go a step."""
        import tensorflow as tf

        dtype = variable.dtype
        rate, beta_1, beta_2, *powers = (tf.cast(scalar, dtype) for scalar in scalars)
        if self.weight_decay and self._use_weight_decay(variable):
            variable.assign_sub(variable * (tf.cast(self.weight_decay, dtype) * rate))
        index = self._get_variable_index(variable)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=powers[0],
            beta2_power=powers[1],
            lr=rate,
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.constant(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )
