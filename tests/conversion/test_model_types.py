from pathlib import Path

import pytest

from kerazoo.conversion.model_types import (
    BERT,
    GPT2,
    MODEL_TYPES,
    OPENAI_GPT,
    model_type_of,
    model_type_to_write,
)

PATH = Path("folder/config.json")


@pytest.mark.parametrize("model_type", MODEL_TYPES.values(), ids=lambda kind: kind.name)
def test_a_type_is_found_by_its_name(model_type):
    assert model_type_of({"model_type": model_type.name}, PATH) is model_type


@pytest.mark.parametrize(
    ("config", "model_type"),
    [
        ({"hidden_size": 20}, BERT),
        ({"n_embd": 20, "afn": "gelu"}, OPENAI_GPT),
        ({"n_embd": 20, "n_ctx": 11}, GPT2),
    ],
)
def test_old_configs_tell_by_their_fields(config, model_type):
    assert model_type_of(config, PATH) is model_type


def test_another_type_is_refused():
    with pytest.raises(ValueError, match="folder/config.json.*bert, openai-gpt, gpt2.*'llama'"):
        model_type_of({"model_type": "llama"}, PATH)


def test_the_generation_decides_what_is_written():
    assert model_type_to_write("bert", {}) is BERT
    assert model_type_to_write("gpt", {"normalize_first": False}) is OPENAI_GPT
    assert model_type_to_write("gpt", {"normalize_first": True}) is GPT2
