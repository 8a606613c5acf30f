"""Transformer blocks on batch after batch: operation by operation at first, then compiled."""

from collections.abc import Callable
from typing import Any

import keras

from kerazoo.axes import Tensor
from kerazoo.backbones.base import call_block

# Compiling takes about as long as some batches do.
_BATCHES_BEFORE_COMPILING = 2


class BlockRunner:
    """Computes blocks, and compiles them once they have been asked for often.

    Layers that differ in their weights alone share what is compiled. On TensorFlow it serves every
    shape, on JAX each shape is compiled anew; PyTorch computes operation by operation.
    """

    def __init__(self) -> None:
        """Begin with nothing compiled."""
        self._calls: dict[int, int] = {}
        self._compiled: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {}

    def __call__(
        self, layer: keras.layers.Layer, hidden_states: Tensor, padding_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what `kerazoo.backbones.base.call_block` does."""
        self._calls[id(layer)] = calls = self._calls.get(id(layer), 0) + 1
        if keras.config.backend() == "torch" or calls <= _BATCHES_BEFORE_COMPILING:
            return call_block(layer, hidden_states, padding_mask)
        structure = _structure(layer)
        if structure not in self._compiled:
            self._compiled[structure] = _compiled(layer)
        weights = [
            [keras.ops.convert_to_tensor(variable.value) for variable in variables]
            for variables in (layer.trainable_variables, layer.non_trainable_variables)
        ]
        return self._compiled[structure](weights, hidden_states, padding_mask)


def _structure(layer: keras.layers.Layer) -> str:
    """Return a key that is the same for layers which differ in nothing but names and weights."""
    config = {key: value for key, value in layer.get_config().items() if key != "name"}
    variables = layer.trainable_variables + layer.non_trainable_variables
    return repr((type(layer), config, [(v.name, v.shape, v.dtype, v.trainable) for v in variables]))


def _compiled(layer: keras.layers.Layer) -> Callable[..., tuple[Tensor, Tensor]]:
    def block(
        weights: list[list[Tensor]], hidden_states: Tensor, padding_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        outputs, _ = layer.stateless_call(
            *weights,
            hidden_states,
            padding_mask=padding_mask,
            training=False,
            return_attention_scores=True,
        )
        return outputs

    if keras.config.backend() == "jax":
        import jax

        return jax.jit(block)
    import tensorflow as tf

    compiled: Any = tf.function(block, autograph=False, reduce_retracing=True)
    return compiled
