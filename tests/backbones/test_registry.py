import pytest

from kerazoo.backbones.registry import BACKBONES, backbone_class
from kerazoo.backbones.sizes import SIZES


@pytest.mark.parametrize("family", BACKBONES)
def test_every_family_has_a_class(family):
    assert backbone_class(family).family == family


def test_every_family_has_sizes():
    assert set(BACKBONES) == set(SIZES)


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="'bert', 'gpt'. Received: family='llama'"):
        backbone_class("llama")
