"""How the weights of BERT and GPT are divided among the devices of JAX."""

from collections.abc import Sequence
from typing import Any, Self

import keras

_BATCH = "batch"
_MODEL = "model"
_LAYOUTS = {
    # What the heads read and what they write lie on one device, head by head; so do the units of
    # the feed-forward layer. Two sums over devices are left in each block.
    r".*/(query|key|value|intermediate)/kernel": (None, _MODEL),
    r".*/(query|key|value|intermediate)/bias": (_MODEL,),
    r".*/(attention_output|feed_forward_output)/kernel": (_MODEL, None),
    r".*/token_embedding/embeddings": (_MODEL, None),
}


class ModelLayout(keras.distribution.ModelParallel):
    """Divides the attention heads, the feed-forward layers and the token embedding.

    As in Shoeybi et al. 2019, Megatron-LM. A weight whose axis does not divide evenly lies on every
    device, and so does all that is not named here, such as heads of tasks.
    """

    @classmethod
    def of(cls, devices: Sequence[str]) -> Self:
        """Return the layout on all of some devices, each of which reads all rows.

        Args:
            devices: the names, such as "gpu:0".
        """
        mesh = keras.distribution.DeviceMesh((1, len(devices)), (_BATCH, _MODEL), list(devices))
        layouts = keras.distribution.LayoutMap(mesh)
        for path, axes in _LAYOUTS.items():
            layouts[path] = axes
        return cls(layout_map=layouts, batch_dim_name=_BATCH, auto_shard_dataset=False)

    def get_variable_layout(self, variable: Any) -> Any:
        """Return how a weight is divided; see `keras.distribution.Distribution`."""
        layout = super().get_variable_layout(variable)
        sizes = dict(zip(self.device_mesh.axis_names, self.device_mesh.shape, strict=True))
        for axis, length in zip(layout.axes, variable.shape, strict=True):
            if axis is not None and length % sizes[axis]:
                everywhere = [None] * len(variable.shape)
                return keras.distribution.TensorLayout(everywhere, self.device_mesh)
        return layout
