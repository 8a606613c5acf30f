import pytest

from kerazoo.conversion.name_map import NameMap, Rule, split_layer

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
    assert RULES.to_targets(source) == (target,)
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
    assert RULES.to_targets(name) == ()
    assert RULES.to_source(name) is None


def test_rule_for_target_knows_what_is_transposed():
    assert RULES.rule_for_target("layer_5/dense/kernel").transpose is True
    assert RULES.rule_for_target("layer_5/bias").transpose is False
    assert RULES.rule_for_target("layer_5/gamma") is None


def test_tables_add_up():
    both = RULES + NameMap([Rule("classifier.bias", "classifier/bias")])
    assert both.to_targets("classifier.bias") == ("classifier/bias",)
    assert both.to_source("embeddings/table") == "embeddings.weight"
    assert RULES.to_targets("classifier.bias") == ()


@pytest.mark.parametrize(("side", "rule"), [("source", Rule("a", "c")), ("target", Rule("c", "b"))])
def test_two_rules_may_not_share_a_name(side, rule):
    with pytest.raises(ValueError, match=f"share the {side} name"):
        NameMap([Rule("a", "b"), rule])


def test_the_layer_number_stands_on_both_sides():
    with pytest.raises(ValueError, match="or neither"):
        Rule("layer.{i}.bias", "bias")


FUSED = [Rule("h.{i}.all", f"layer_{{i}}/{name}", part=(n, 2)) for n, name in enumerate("ab")]


def test_a_tensor_may_fill_several_variables():
    table = NameMap(FUSED)
    assert table.to_targets("h.12.all") == ("layer_12/a", "layer_12/b")
    assert table.to_source("layer_3/b") == "h.3.all"
    assert table.rule_for_target("layer_3/b").part == (1, 2)


@pytest.mark.parametrize(
    "rules", [FUSED[:1], FUSED[::-1], [FUSED[0], Rule("h.{i}.all", "layer_{i}/c")]], ids=str
)
def test_parts_must_be_all_and_in_order(rules):
    with pytest.raises(ValueError, match="not its parts in order. Received: 'h.{i}.all'"):
        NameMap(rules)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("h.0.mlp.bias", ("h.{i}.mlp.bias", "0")),
        ("layer_10/x", ("layer_{i}/x", "10")),
        ("h.x.mlp", ("h.x.mlp", "")),
        ("path.3.mlp", ("path.3.mlp", "")),
        ("h.07.mlp", ("h.07.mlp", "")),
    ],
)
def test_where_a_layer_number_stands(name, parts):
    assert split_layer(name) == parts


def test_first_words():
    assert NameMap(FUSED).first_words() == {"h"}
    assert RULES.first_words() == {"embeddings", "encoder", "output/layer_{i}/bias"}
