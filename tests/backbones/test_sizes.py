import pytest

from kerazoo.backbones.bert import BertConfig
from kerazoo.backbones.sizes import SIZES, named_size


@pytest.mark.parametrize("name", SIZES["bert"])
def test_each_size_is_a_valid_config(name):
    config = BertConfig(**named_size("bert", name))
    assert config.hidden_dim // config.num_heads in (32, 64)
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
