import dataclasses

import pytest

from kerazoo.backbones.bert import BertConfig
from kerazoo.backbones.gpt import GPTConfig
from kerazoo.conversion.model_types import MODEL_TYPES

EVERY_TYPE = pytest.mark.parametrize(
    "model_type", MODEL_TYPES.values(), ids=lambda model_type: model_type.name
)


@EVERY_TYPE
def test_the_table_covers_every_field_of_the_config_once(model_type):
    config_class = {"bert": BertConfig, "gpt": GPTConfig}[model_type.family]
    table = model_type.config
    covered = [*table.fields, *table.fixed, "activation"]
    covered += ["intermediate_dim"] if table.quadruple else []
    assert sorted(covered) == sorted(field.name for field in dataclasses.fields(config_class))


@EVERY_TYPE
def test_every_activation_that_is_written_is_read_back(model_type):
    table = model_type.config
    for own, written in table.activation_names.items():
        assert table.activations[written] == own
    assert table.default_activation in table.activations


@EVERY_TYPE
def test_every_class_that_is_written_is_read_back(model_type):
    for task_name, architecture in model_type.architectures.items():
        if task_name is not None:
            assert architecture in model_type.read_architectures[task_name]
