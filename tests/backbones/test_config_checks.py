import dataclasses

import pytest

from kerazoo.backbones.config_checks import BLOCK_FIELDS, check_transformer_config
from kerazoo.layers.transformer_block import TransformerBlock


@dataclasses.dataclass
class Config:
    num_heads: int = 4
    hidden_dim: int = 20
    intermediate_dim: int = 24
    extra_size: int = 3
    dropout: float = 0.0
    attention_dropout: float = 0.1
    activation: str = "relu"
    layer_norm_epsilon: float = 1e-5
    initializer_range: float = 0.02


def test_a_block_takes_the_fields():
    config = Config()
    check_transformer_config(config)
    TransformerBlock(**{field: getattr(config, field) for field in BLOCK_FIELDS})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra_size": 0}, "extra_size=0"),
        ({"intermediate_dim": True}, "intermediate_dim=True"),
        ({"num_heads": 3}, "hidden_dim=20, num_heads=3"),
        ({"dropout": 1.0}, "dropout=1.0"),
        ({"attention_dropout": -0.5}, "attention_dropout=-0.5"),
        ({"activation": "swish"}, "activation='swish'"),
        ({"layer_norm_epsilon": 0.0}, "layer_norm_epsilon=0.0"),
        ({"initializer_range": -1.0}, "initializer_range=-1.0"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"Received: {message}"):
        check_transformer_config(Config(**changes))
