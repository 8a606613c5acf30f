import dataclasses
import json

import pytest

from kerazoo.training.config import FinetuneConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "`epochs` must be a number above zero. Received: epochs=0"),
        ({"batch_size": 0}, "`batch_size` must be a number above zero"),
        ({"batch_size": 10**20}, r"`batch_size` must be below 2\*\*31"),
        ({"seed": 2**31}, r"`seed` must be below 2\*\*31. Received: seed=2147483648"),
        ({"learning_rate": -1e-5}, "learning_rate"),
        ({"weight_decay": -0.1}, "`weight_decay` must not be negative"),
        ({"precision": "float16"}, "'float32', 'mixed_bfloat16'"),
        ({"class_weight": "even"}, "'balanced'"),
        ({"pooling": "max"}, "'mean'"),
        ({"tag_scheme": "iob"}, "'bio', 'iob1', 'bioes'"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"freeze_backbone": True, "lora_rank": 4}, "exclude each other"),
    ],
)
def test_unfit_values_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FinetuneConfig(**settings)


def test_the_rate_depends_on_what_trains_unless_it_is_given():
    assert FinetuneConfig().peak_learning_rate == 5e-5
    assert FinetuneConfig(lora_rank=4).peak_learning_rate == 5e-4
    assert FinetuneConfig(freeze_backbone=True).peak_learning_rate == 1e-3
    assert FinetuneConfig(freeze_backbone=True, learning_rate=2e-5).peak_learning_rate == 2e-5


def test_what_is_written_is_read_back(tmp_path):
    config = FinetuneConfig(epochs=5, learning_rate=3e-5, lora_rank=4, seed=11)
    file = tmp_path / "training_config.json"
    file.write_text(config.to_json())
    assert FinetuneConfig.from_file(file) == config
    assert set(json.loads(config.to_json())) == {f.name for f in dataclasses.fields(config)}


def test_the_row_length_keeps_to_the_checkpoints_limit():
    assert FinetuneConfig().row_length(512) == 256
    assert FinetuneConfig().row_length(11) == 11
    assert FinetuneConfig(sequence_length=300).row_length(512) == 300
    with pytest.raises(ValueError, match="reads at most 11 tokens .* sequence_length=12"):
        FinetuneConfig(sequence_length=12).row_length(11)


@pytest.mark.parametrize(("batch_size", "accumulate"), [(32, 0), (30, 4)])
def test_a_batch_comes_out_even_in_its_parts(batch_size, accumulate):
    with pytest.raises(ValueError, match=f"accumulate={accumulate}"):
        FinetuneConfig(batch_size=batch_size, accumulate=accumulate)
    assert FinetuneConfig(batch_size=batch_size, accumulate=2).accumulate == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"crf": False, "ban_illegal_moves": True}, "Only a CRF can ban.*crf=False"),
        ({"crf": True, "label_all_pieces": True}, "one tag a word.*label_all_pieces=True"),
        ({"stride": 65, "sequence_length": 64}, "leave gaps.*stride=65, sequence_length=64"),
    ],
)
def test_settings_that_exclude_each_other_whatever_the_checkpoint(settings, message):
    with pytest.raises(ValueError, match=message):
        FinetuneConfig(**settings)
    # Each is fine alone: the checkpoint may have the CRF or longer rows.
    for name, value in settings.items():
        assert getattr(FinetuneConfig(**{name: value}), name) == value
