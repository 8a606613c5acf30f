import pytest

from kerazoo.backbones.sizes import named_size
from kerazoo.cli.parameter_count import bert_parameter_count


def test_equals_the_models(tiny_backbone, tiny_text_classifier):
    config = tiny_backbone.get_config()
    assert bert_parameter_count(config) == tiny_backbone.count_params()
    assert bert_parameter_count(config, num_classes=3) == tiny_text_classifier.count_params()


@pytest.mark.parametrize(
    ("size", "published"),
    # Turc et al. 2019, table 1 (millions), and Devlin et al. 2018, section 3.
    [("tiny", 4.4), ("mini", 11.3), ("small", 29.1), ("medium", 41.7), ("base", 110.1)],
)
def test_is_near_the_published_sizes(size, published):
    config = {**named_size("bert", size), "max_sequence_length": 512, "num_segments": 2}
    assert bert_parameter_count(config) / 1e6 == pytest.approx(published, rel=0.02)
