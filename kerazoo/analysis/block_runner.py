"""Transformer blocks on batch after batch: operation by operation at first, then compiled."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import keras

from kerazoo.axes import Tensor

# Tracing a block takes as long as a few batches do, compiling it for one shape as long as more.
_CALLS_BEFORE_TRACING = 2
_CALLS_BEFORE_COMPILING = 6


class BlockRunner:
    """Runs functions of a layer and tensors, and compiles them once they are called often.

    Layers that differ in their weights alone share what is compiled. On TensorFlow a graph serves
    every shape at first, and XLA a shape that comes often; JAX compiles each shape. PyTorch
    computes operation by operation.
    """

    def __init__(self) -> None:
        """Begin with nothing compiled."""
        self._calls: Counter[Any] = Counter()
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def __call__(
        self, function: Callable[..., Any], layer: keras.layers.Layer, *tensors: Tensor
    ) -> Any:
        """Return `function(layer, *tensors)`.

        Args:
            function: such as `kerazoo.backbones.base.call_block`.
            layer: the layer whose weights it uses.
            *tensors: its other arguments.
        """
        self._calls[function, id(layer)] += 1
        calls = self._calls[function, id(layer)]
        if keras.config.backend() == "torch" or calls <= _CALLS_BEFORE_TRACING:
            return function(layer, *tensors)
        kind = (function, _structure(layer))
        shapes = self._frequent_shapes(function, layer, tensors)
        if (kind, shapes) not in self._compiled:
            self._compiled[kind, shapes] = _compiled(function, layer, tensors, bool(shapes))
        weights = [keras.ops.convert_to_tensor(variable.value) for variable in layer.variables]
        return self._compiled[kind, shapes](weights, *tensors)

    def _frequent_shapes(
        self, function: Callable[..., Any], layer: keras.layers.Layer, tensors: tuple[Tensor, ...]
    ) -> tuple[tuple[int, ...], ...]:
        """Return the shapes if XLA on TensorFlow should compile them; else none."""
        if keras.config.backend() != "tensorflow":
            return ()
        shapes = tuple(tuple(tensor.shape) for tensor in tensors)
        self._calls[function, id(layer), shapes] += 1
        return shapes if self._calls[function, id(layer), shapes] > _CALLS_BEFORE_COMPILING else ()


def _structure(layer: keras.layers.Layer) -> str:
    """Return a key that is the same for layers which differ in nothing but names and weights."""
    config = {key: value for key, value in layer.get_config().items() if key != "name"}
    variables = [(v.name, v.shape, v.dtype, v.trainable) for v in layer.variables]
    return repr((type(layer), config, variables))


def _compiled(
    function: Callable[..., Any],
    layer: keras.layers.Layer,
    tensors: tuple[Tensor, ...],
    one_shape: bool,
) -> Callable[..., Any]:
    """Return the function of weights and tensors; on TensorFlow for one shape or for all."""

    def with_weights(weights: list[Tensor], *tensors: Tensor) -> Any:
        with keras.StatelessScope(state_mapping=zip(layer.variables, weights, strict=True)):
            return function(layer, *tensors)

    if keras.config.backend() == "jax":
        import jax

        return jax.jit(with_weights)
    import tensorflow as tf

    def any_rows(tensor: Any) -> tf.TensorSpec:
        return tf.TensorSpec([None, None, *tensor.shape[2:]], tensor.dtype)

    weights = [tf.TensorSpec(variable.shape, variable.dtype) for variable in layer.variables]
    signature = None if one_shape else [weights, *map(any_rows, tensors)]
    compiled: Any = tf.function(
        with_weights, input_signature=signature, autograph=False, jit_compile=one_shape
    )
    return compiled
