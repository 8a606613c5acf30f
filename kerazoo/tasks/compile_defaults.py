"""What `compile` of every task means by "auto"."""

from typing import Any

import keras

from kerazoo.optimizers.adamw import create_optimizer


def default_optimizer(optimizer: Any) -> Any:
    """Return the optimizer; "auto" is Adam with a learning rate of 5e-5, as KerasHub's."""
    return create_optimizer(5e-5, weight_decay=0.0) if optimizer == "auto" else optimizer


def default_jit_compile(jit_compile: bool | str) -> bool | str:
    """Return whether to compile with XLA; "auto" is no on TensorFlow, else Keras's choice.

    On TensorFlow XLA gains nothing on a CPU, and fails under MirroredStrategy.
    """
    is_open = jit_compile == "auto" and keras.config.backend() == "tensorflow"
    return False if is_open else jit_compile


def weighted_cross_entropy() -> keras.losses.Loss:
    """Return the sparse categorical cross-entropy of logits, Σ w l / Σ w."""
    return keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction="mean_with_sample_weight"
    )
