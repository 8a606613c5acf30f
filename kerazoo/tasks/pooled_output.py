"""One vector a text from any encoder's outputs."""

from typing import Any

import keras

from kerazoo.axes import PADDING_MASK, POOLED_OUTPUT, SEQUENCE_OUTPUT, Tensor
from kerazoo.checks import check_one_of
from kerazoo.layers.pooling import MeanPooler

POOLINGS = ("pooled", "mean")


def pooled_and_sequence_output(
    backbone: keras.Model, inputs: dict[str, Tensor], pooling: str = "pooled"
) -> tuple[Tensor, Tensor]:
    """Encode and return one vector a text, (batch, hidden), and all states, (batch, seq, hidden).

    Args:
        backbone: any encoder that outputs a sequence of states, (batch, seq, hidden), or a dict
            with `sequence_output` and perhaps `pooled_output`.
        inputs: its inputs.
        pooling: "pooled" is the backbone's own pooled vector (BERT: tanh layer on `[CLS]`; GPT: the
            state of the last real token), or the first state where it has none; "mean" is the
            mean of the real tokens' states.

    Raises:
        ValueError: if the outputs hold no sequence, or `pooling` is another word.
    """
    check_one_of("pooling", pooling, POOLINGS)
    outputs: Any = backbone(inputs)
    pooled = None
    if isinstance(outputs, dict):
        outputs, pooled = outputs.get(SEQUENCE_OUTPUT), outputs.get(POOLED_OUTPUT)
    if outputs is None or len(outputs.shape) != 3:
        raise ValueError(
            "The backbone must output a sequence of states, (batch, seq, hidden). "
            f"Received: backbone={type(backbone).__name__}"
        )
    if pooling == "mean":
        pooler = MeanPooler(dtype=backbone.dtype_policy, name="mean_pooler")
        pooled = pooler(outputs, padding_mask=inputs[PADDING_MASK])
    return outputs[:, 0, :] if pooled is None else pooled, outputs


def train_pooler(backbone: keras.Model, is_read: bool) -> None:
    """Let the pooler of a backbone train only in a task that reads its output.

    Otherwise it has no gradient, and weight decay would shrink it. LoRA decides by itself.

    Args:
        backbone: a backbone, with or without a pooler.
        is_read: whether the task reads the pooler's output.
    """
    # KerasHub's BERT has the second name.
    pooler = getattr(backbone, "pooler", getattr(backbone, "pooled_dense", None))
    if pooler is not None and not (is_read and getattr(backbone, "_lora_enabled_layers", [])):
        pooler.trainable = is_read
