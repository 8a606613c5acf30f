import pytest

from kerazoo.conversion.name_map import NameMap, Rule

RULES = NameMap(
    [
        Rule("embeddings.weight", "embeddings/table"),
        Rule("encoder.layer.{i}.dense.weight", "layer_{i}/dense/kernel", transpose=True),
        Rule("output/layer_{i}/bias", "layer_{i}/bias"),
    ]
)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("embeddings.weight", "embeddings/table"),
        ("encoder.layer.0.dense.weight", "layer_0/dense/kernel"),
        ("encoder.layer.11.dense.weight", "layer_11/dense/kernel"),
        ("output/layer_7/bias", "layer_7/bias"),
    ],
)
def test_names_translate_both_ways(source, target):
    assert RULES.to_target(source) == target
    assert RULES.to_source(target) == source


@pytest.mark.parametrize(
    "name",
    [
        "embeddings.bias",
        "encoder.layer.x.dense.weight",
        "encoder.layer.01.dense.weight",
        "encoder.layer.{i}.dense.weight.more",
        "layer_3/dense",
        "prefix.embeddings.weight",
        "",
    ],
)
def test_unknown_names_have_no_translation(name):
    assert RULES.to_target(name) is None
    assert RULES.to_source(name) is None


def test_rule_for_target_knows_what_is_transposed():
    assert RULES.rule_for_target("layer_5/dense/kernel").transpose is True
    assert RULES.rule_for_target("layer_5/bias").transpose is False
    assert RULES.rule_for_target("layer_5/gamma") is None


def test_tables_add_up():
    both = RULES + NameMap([Rule("classifier.bias", "classifier/bias")])
    assert both.to_target("classifier.bias") == "classifier/bias"
    assert both.to_source("embeddings/table") == "embeddings.weight"
    assert RULES.to_target("classifier.bias") is None


@pytest.mark.parametrize(("side", "rule"), [("source", Rule("a", "c")), ("target", Rule("c", "b"))])
def test_two_rules_may_not_share_a_name(side, rule):
    with pytest.raises(ValueError, match=f"share the {side} name"):
        NameMap([Rule("a", "b"), rule])


def test_the_layer_number_stands_on_both_sides():
    with pytest.raises(ValueError, match="or neither"):
        Rule("layer.{i}.bias", "bias")
