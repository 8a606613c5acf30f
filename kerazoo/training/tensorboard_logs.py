"""Logs that TensorBoard shows."""

import importlib.util

import keras


def tensorboard_callback(folder: str) -> keras.callbacks.Callback:
    """Return the Keras callback that writes TensorBoard's logs.

    Args:
        folder: where to write them.

    Raises:
        ModuleNotFoundError: if TensorBoard is not installed.
    """
    if importlib.util.find_spec("tensorboard") is None:
        raise ModuleNotFoundError(
            "TensorBoard is not installed: pip install 'kerazoo[tensorboard]'"
        )
    return keras.callbacks.TensorBoard(folder, write_graph=False)
