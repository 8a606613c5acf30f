"""What the configs of all families have in common."""

import dataclasses
from typing import Any

from kerazoo.checks import check_divisible, check_one_of, check_positive, check_rate
from kerazoo.layers.feed_forward import ACTIVATIONS

BLOCK_FIELDS = (
    "num_heads",
    "hidden_dim",
    "intermediate_dim",
    "dropout",
    "attention_dropout",
    "activation",
    "layer_norm_epsilon",
)
"""The fields of a config that a `TransformerBlock` takes."""


def check_transformer_config(config: Any) -> None:
    """Raise ValueError if a value is out of range or two of them do not fit together.

    Args:
        config: a dataclass with the fields of `BLOCK_FIELDS` and sizes as `int` fields.
    """
    for field in dataclasses.fields(config):
        if field.type in (int, "int"):
            check_positive(field.name, getattr(config, field.name))
    check_positive("layer_norm_epsilon", config.layer_norm_epsilon)
    check_positive("initializer_range", config.initializer_range)
    check_divisible("hidden_dim", config.hidden_dim, "num_heads", config.num_heads)
    check_rate("dropout", config.dropout)
    check_rate("attention_dropout", config.attention_dropout)
    check_one_of("activation", config.activation, ACTIVATIONS)
