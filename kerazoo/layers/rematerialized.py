"""Layers whose inside is not kept for the gradient (Chen et al. 2016, arXiv:1604.06174)."""

from collections.abc import Callable, Sequence

import keras

from kerazoo.axes import Tensor


def rematerialized(
    layer: keras.layers.Layer,
    function: Callable[[Tensor], Tensor],
    inputs: Tensor,
    dropouts: Sequence[keras.layers.Dropout],
) -> Tensor:
    """Return `function(inputs)`, of which nothing else is kept: the gradient computes it again.

    `keras.RematScope` fails on layers with dropout on JAX, and would draw other masks the second
    time; here both times begin with the same seeds.

    Args:
        layer: the layer whose weights the function uses.
        function: computes with the layer.
        inputs: float, any shape.
        dropouts: the dropout layers in the order in which the function calls them, those called
            twice twice.
    """
    generators = [dropout.seed_generator for dropout in dropouts if dropout.rate > 0]
    states = {id(generator.state): generator.state for generator in generators}
    seeds = {key: keras.ops.copy(state.value) for key, state in states.items()}

    def with_seeds(inputs: Tensor) -> Tensor:
        values = [(v, seeds.get(id(v), v.value)) for v in layer.variables]
        with keras.StatelessScope(state_mapping=values):
            return function(inputs)

    outputs = keras.remat(with_seeds)(inputs)
    if keras.config.backend() != "torch":  # where dropout draws from PyTorch's own generator
        for generator in generators:  # what was drawn in the scope left no trace
            generator.next()
    return outputs
