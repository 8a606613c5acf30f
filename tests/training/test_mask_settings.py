import pytest

from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.training.mask_settings import mask_settings
from kerazoo.training.pretrain_config import PretrainConfig

STATIC = PrepareSettings("bert-mlm", static_masks=3, masking="whole_word", mask_selection_rate=0.2)


def test_rows_without_masks_leave_them_to_the_config():
    rows = PrepareSettings("bert-mlm")
    config = PretrainConfig(masking="ngram", mask_selection_rate=0.2, mask_token_rate=0.6)
    assert mask_settings(rows, config) == config
    # So the settings file of a run says how it masked.
    default = mask_settings(rows, PretrainConfig())
    assert (default.masking, default.mask_selection_rate) == ("token", 0.15)


def test_static_masks_are_recorded_as_they_are():
    config = mask_settings(STATIC, PretrainConfig(steps=7))
    assert (config.masking, config.mask_selection_rate, config.steps) == ("whole_word", 0.2, 7)
    # So the settings file of a run is one that it can be repeated with.
    assert mask_settings(STATIC, config) == config


@pytest.mark.parametrize(
    "setting",
    [
        {"masking": "ngram"},
        {"masking": "token"},
        {"mask_selection_rate": 0.3},
        {"mask_selection_rate": 0.15},
        {"mask_selection_length": 9},
        {"mask_token_rate": 0.7},
        {"random_token_rate": 0.05},
        {"ngram_unit": "token"},
        {"replace_per_word": True},
    ],
)
def test_other_masks_than_those_in_the_rows_are_refused(setting):
    ((name, value),) = setting.items()
    received = f"Received: {name}={value!r}"
    with pytest.raises(ValueError, match=f"hold static masks .*whole_word.* {received}"):
        mask_settings(STATIC, PretrainConfig(**setting))
    with pytest.raises(ValueError, match=f"predicts every token.* {received}"):
        mask_settings(PrepareSettings("gpt"), PretrainConfig(**setting))


def test_a_causal_model_takes_the_defaults():
    assert mask_settings(PrepareSettings("gpt"), PretrainConfig()) == PretrainConfig()
