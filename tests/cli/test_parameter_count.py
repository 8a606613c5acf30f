import pytest

from kerazoo import CausalLM
from kerazoo.backbones.gpt import GPTBackbone
from kerazoo.backbones.sizes import named_size
from kerazoo.cli.parameter_count import (
    bert_parameter_count,
    gpt_parameter_count,
    parameter_count,
)


def test_equals_the_models(tiny_backbone, tiny_text_classifier):
    config = tiny_backbone.get_config()
    assert bert_parameter_count(config) == tiny_backbone.count_params()
    assert bert_parameter_count(config, num_classes=3) == tiny_text_classifier.count_params()
    assert parameter_count("bert", config, 3) == tiny_text_classifier.count_params()


@pytest.mark.parametrize("normalize_first", [False, True])
def test_equals_the_gpt_models(normalize_first):
    backbone = GPTBackbone(
        vocabulary_size=31,
        num_layers=3,
        num_heads=4,
        hidden_dim=20,
        intermediate_dim=24,
        max_sequence_length=11,
        normalize_first=normalize_first,
    )
    assert parameter_count("gpt", backbone.get_config()) == backbone.count_params()
    task = CausalLM(backbone)
    assert gpt_parameter_count(task.backbone.get_config()) == task.count_params()


@pytest.mark.parametrize(
    ("size", "released"),
    # The released checkpoints, causal masks left out.
    [("gpt", 116_534_784), ("gpt2_small", 124_439_808), ("gpt2_xl", 1_557_611_200)],
)
def test_equals_the_released_gpt_checkpoints(size, released):
    assert parameter_count("gpt", named_size("gpt", size)) == released


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="Received: family='llama'"):
        parameter_count("llama", {})


@pytest.mark.parametrize(
    ("size", "published"),
    # Turc et al. 2019, table 1 (millions), and Devlin et al. 2018, section 3.
    [("tiny", 4.4), ("mini", 11.3), ("small", 29.1), ("medium", 41.7), ("base", 110.1)],
)
def test_is_near_the_published_sizes(size, published):
    config = {**named_size("bert", size), "max_sequence_length": 512, "num_segments": 2}
    assert bert_parameter_count(config) / 1e6 == pytest.approx(published, rel=0.02)
