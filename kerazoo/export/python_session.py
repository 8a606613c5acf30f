"""A SavedModel loaded by TensorFlow's Python API, with the same interface as `ServerSession`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import tensorflow as tf

from kerazoo.export.server_session import ModelError, text_op_libraries
from kerazoo.export.signatures import Signature


class PythonSession:
    """A SavedModel as ``tf.saved_model.load`` gives it, on the CPU.

    The ops of TensorFlow Text are registered from their libraries, as the server session does it;
    the package itself need not be imported.
    """

    is_alive = True

    def __init__(self, version_dir: Path) -> None:
        """Loads the model.

        Args:
            version_dir: The version folder.

        Raises:
            ModelError: If the model does not load.
        """
        for library in text_op_libraries():
            tf.load_op_library(str(library))
        try:
            with tf.device("/CPU:0"):
                self._model = tf.saved_model.load(str(version_dir))
        except Exception as error:  # whatever a broken model makes TensorFlow raise
            raise ModelError(_message(error)) from error

    def run(self, signature: Signature, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Answers one request.

        Args:
            signature: The signature to call.
            inputs: An array for each of its inputs.

        Returns:
            An array for each of its outputs; strings as an object array of bytes.

        Raises:
            ModelError: If the model fails.
        """
        try:
            with tf.device("/CPU:0"), _without_tensor_float_32():
                tensors = {name: tf.constant(inputs[name]) for name in signature.inputs}
                outputs = self._model.signatures[signature.name](**tensors)
                return {name: np.asarray(outputs[name].numpy()) for name in signature.outputs}
        except Exception as error:  # whatever a broken model makes TensorFlow raise
            raise ModelError(_message(error)) from error


@contextmanager
def _without_tensor_float_32() -> Iterator[None]:
    """A function may still put a matrix product on a GPU, where it would round to 10 bits."""
    enabled = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        yield
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(enabled)


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
