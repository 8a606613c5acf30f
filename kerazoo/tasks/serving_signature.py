"""What a task offers to the exporter: a function on tensors, its inputs and an example request."""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class ServingSignature:
    """One signature of a SavedModel.

    Args:
        function: takes one tensor for each of `inputs`, by name, and returns a dict of tensors
            whose first axis is the batch.
        inputs: specs with names; the first axis is the batch, None.
        example: a request with a batch of one for the warm-up file, by input name.
    """

    function: Callable[..., dict[str, tf.Tensor]]
    inputs: tuple[tf.TensorSpec, ...]
    example: dict[str, np.ndarray]
