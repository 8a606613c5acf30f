import pytest

from kerazoo.training.pretrain_config import PretrainConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "`steps` must be a number above zero. Received: steps=0"),
        ({"epochs": -1}, "`epochs` must be a number above zero"),
        ({"steps": 3, "epochs": 1}, "both say how long to train.*steps=3, epochs=1"),
        ({"batch_size": 0}, "`batch_size`"),
        ({"masking": "words"}, "`masking` must be one of 'token', 'whole_word', 'ngram'"),
        ({"ngram_unit": "line"}, "`ngram_unit` must be one of 'word', 'token'"),
        ({"objective": "mlm"}, "`objective` must be one of 'bert', 'bert-mlm', 'gpt'"),
        ({"segmenter": "thulac"}, "`segmenter` must be one of 'none', 'jieba', 'ltp'"),
        ({"precision": "float16"}, "'mixed_bfloat16'"),
        ({"mask_selection_rate": 1.5}, "`mask_selection_rate`"),
        ({"mask_token_rate": 0.7, "random_token_rate": 0.4}, "must sum to at most 1"),
        ({"mask_selection_length": 0}, "`mask_selection_length`"),
        ({"checkpoint_every": -1}, "`checkpoint_every` must not be negative"),
        ({"evaluate_every": 0}, "`evaluate_every`"),
        ({"validation_fraction": 1.0}, "`validation_fraction`"),
    ],
)
def test_unfit_values_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PretrainConfig(**settings)


def test_the_length_of_a_run():
    assert PretrainConfig(batch_size=10).total_steps(95) == 10
    assert PretrainConfig(batch_size=10, epochs=2.5).total_steps(100) == 25
    assert PretrainConfig(batch_size=10, epochs=0.01).total_steps(100) == 1
    assert PretrainConfig(batch_size=10, steps=7).total_steps(100) == 7
    assert PretrainConfig(batch_size=10, steps=7).total_steps(10) == 7
    with pytest.raises(ValueError, match="train on, 9;.*Received: batch_size=10"):
        PretrainConfig(batch_size=10, steps=7).total_steps(9)


def test_what_is_written_is_read_back(tmp_path):
    config = PretrainConfig(steps=50, masking="ngram", learning_rate=3e-4)
    (tmp_path / "training_config.json").write_text(config.to_json())
    assert PretrainConfig.from_file(tmp_path / "training_config.json") == config
