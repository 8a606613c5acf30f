"""What a backbone computes, layer by layer, as NumPy arrays."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import keras
import numpy as np

from kerazoo.axes import Tensor


def without_gradients() -> AbstractContextManager[object]:
    """Return a block in which PyTorch keeps nothing for gradients; the others keep nothing anyway.

    Without it every layer's attention would stay in memory.
    """
    if keras.config.backend() == "torch":
        import torch

        return torch.no_grad()
    return nullcontext()


def layer_stream(layers: Iterator[Tensor]) -> Iterator[np.ndarray]:
    """Yield tensors of the backend as arrays, each computed when it is asked for.

    Args:
        layers: what computes them, such as `Backbone.attention_by_layer`.
    """
    while True:
        # Around each step: a block held open between them would reach the caller's own code.
        with without_gradients():
            tensor = next(layers, None)
            if tensor is None:
                return
            array = keras.ops.convert_to_numpy(tensor)
        del tensor
        yield array
