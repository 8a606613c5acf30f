import pytest
from gpt_checkpoint import CONFIGS, expected_values, pairs, random_tensors

from kerazoo.conversion.gpt_names import GPT1_BACKBONE, GPT2_BACKBONE

TABLES = {"openai-gpt": GPT1_BACKBONE, "gpt2": GPT2_BACKBONE}


@pytest.mark.parametrize("kind", TABLES)
def test_names_are_those_written_by_hand(kind):
    table = TABLES[kind]
    for name, path, _ in pairs(kind):
        assert table.to_targets(name) == (path,)
        assert table.to_source(path) == name
        assert not table.rule_for_target(path).transpose
    assert len(table.rules) == len(pairs(kind)) - 10 + 6  # each layer's once; query, key, value


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("layer", ["0", "7", "47"])
def test_the_fused_tensor_fills_three_variables(kind, layer):
    table = TABLES[kind]
    for ending, leaf in (("weight", "kernel"), ("bias", "bias")):
        source = f"h.{layer}.attn.c_attn.{ending}"
        targets = tuple(f"layer_{layer}/attention/{n}/{leaf}" for n in ("query", "key", "value"))
        assert table.to_targets(source) == targets
        for number, target in enumerate(targets):
            assert table.to_source(target) == source
            assert table.rule_for_target(target).part == (number, 3)


@pytest.mark.parametrize("kind", TABLES)
def test_the_tables_cover_exactly_the_variables_of_the_backbone(kind):
    from kerazoo import GPTBackbone

    backbone = GPTBackbone(
        vocabulary_size=31,
        num_layers=2,
        num_heads=4,
        hidden_dim=20,
        intermediate_dim=24,
        normalize_first=kind == "gpt2",
    )
    paths = {variable.path for variable in backbone.weights}
    assert paths == set(expected_values(kind, random_tensors(kind)))
    assert all(TABLES[kind].to_source(path) for path in paths)


@pytest.mark.transformers
@pytest.mark.parametrize("kind", TABLES)
def test_the_tables_cover_exactly_the_parameters_of_transformers(kind):
    import transformers

    config = transformers.AutoConfig.for_model(**CONFIGS[kind])
    model = transformers.AutoModelForCausalLM.from_config(config)
    names = {name.removeprefix("transformer.") for name in model.state_dict()}
    assert names - {"lm_head.weight"} == set(random_tensors(kind))
