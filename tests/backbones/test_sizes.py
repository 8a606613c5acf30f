import pytest

from kerazoo.backbones.bert import BertConfig
from kerazoo.backbones.gpt import GPTConfig
from kerazoo.backbones.sizes import SIZES, named_size


@pytest.mark.parametrize("name", SIZES["bert"])
def test_each_size_is_a_valid_config(name):
    config = BertConfig(**named_size("bert", name))
    assert config.hidden_dim // config.num_heads in (32, 64)
    assert config.intermediate_dim == 4 * config.hidden_dim


@pytest.mark.parametrize(
    ("name", "positions", "weights"),
    [
        ("gpt", 512, 116_534_784),
        ("gpt2_small", 1024, 124_439_808),
        ("gpt2_medium", 1024, 354_823_168),
        ("gpt2_large", 1024, 774_030_080),
        ("gpt2_xl", 1024, 1_557_611_200),
    ],
)
def test_gpts_have_as_many_weights_as_the_released_checkpoints(name, positions, weights):
    config = GPTConfig(**named_size("gpt", name))
    assert config.max_sequence_length == positions
    assert config.hidden_dim // config.num_heads == 64
    assert config.normalize_first == (name != "gpt")
    assert config.activation == "gelu_approximate"
    hidden = config.hidden_dim
    embeddings = (config.vocabulary_size + positions) * hidden
    attention = 4 * (hidden * hidden + hidden)
    feed_forward = 2 * hidden * config.intermediate_dim + config.intermediate_dim + hidden
    blocks = config.num_layers * (attention + feed_forward + 2 * 2 * hidden)
    assert embeddings + blocks + (2 * hidden if config.normalize_first else 0) == weights


@pytest.mark.parametrize("name", [name for name in SIZES["gpt"] if "_" in name])
def test_sizes_of_gpt_are_valid_configs(name):
    config = GPTConfig(**named_size("gpt", name))
    assert config.intermediate_dim == 4 * config.hidden_dim


def test_known_numbers():
    assert named_size("bert", "mini")["num_layers"] == 4
    assert named_size("bert", "bert_base_chinese")["vocabulary_size"] == 21_128
    assert named_size("bert", "minilm_l6")["hidden_dim"] == 384
    assert named_size("bert", "large")["num_heads"] == 16


def test_a_size_is_a_copy():
    named_size("bert", "tiny")["num_layers"] = 99
    assert named_size("bert", "tiny")["num_layers"] == 2


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"'tiny'.*Received: name='huge'"):
        named_size("bert", "huge")
    with pytest.raises(ValueError, match=r"Received: family='elmo'"):
        named_size("elmo", "tiny")
