"""Logs that TensorBoard shows. Importing this imports no framework."""

import importlib.util
from typing import Any


def tensorboard_callbacks(folder: str | None) -> list[Any]:
    """Return the Keras callback that writes TensorBoard's logs, if they are asked for.

    Args:
        folder: where to write them; None writes none.

    Raises:
        ModuleNotFoundError: if TensorBoard is not installed.
    """
    if folder is None:
        return []
    if importlib.util.find_spec("tensorboard") is None:
        raise ModuleNotFoundError(
            "TensorBoard is not installed: pip install 'kerazoo[tensorboard]'"
        )
    import keras

    return [keras.callbacks.TensorBoard(folder, write_graph=False)]
