import keras
import pytest

from kerazoo.training.preset_predictor import PresetPredictor, padding_multiple


def test_answers_equal_the_tasks(preset, tiny_text_classifier):
    predictor = PresetPredictor.from_preset(preset)
    assert predictor.labels == ["bad", "good", "mixed"]
    assert predictor.pairs is False
    texts = ["the film was good", "", "dull dull dull dull dull dull dull dull dull dull"]
    answers = predictor.answer({"text": texts}, batch_size=2)
    for answer, expected in zip(answers, tiny_text_classifier.classify(texts), strict=True):
        assert answer["label"] == expected["label"]
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)


def test_pairs_are_answered(pair_classifier, tmp_path):
    pair_classifier.save_to_preset(str(tmp_path / "pairs"))
    predictor = PresetPredictor.from_preset(tmp_path / "pairs")
    assert predictor.pairs is True
    answers = predictor.answer({"text": ["good", "bad"], "text_pair": ["a film", ""]}, 3)
    assert [set(answer["probabilities"]) for answer in answers] == [{"no", "yes"}] * 2


def test_a_backbone_without_a_head_is_refused(tiny_backbone, tiny_tokenizer, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "own"))
    tiny_tokenizer.save_to_preset(str(tmp_path / "own"))
    with pytest.raises(ValueError, match="has no trained classifier. Train one: kerazoo fine"):
        PresetPredictor.from_preset(tmp_path / "own")


def test_a_foreign_checkpoint_without_a_head_is_refused(tiny_text_classifier, tmp_path):
    from kerazoo.conversion.huggingface import save_huggingface

    backbone = tiny_text_classifier.backbone
    tokenizer = tiny_text_classifier.preprocessor.tokenizer
    save_huggingface(backbone, backbone.config, tmp_path / "hf", tokenizer=tokenizer)
    with pytest.raises(ValueError, match="hf has no trained classifier"):
        PresetPredictor.from_preset(tmp_path / "hf")


def test_batches_have_one_width_where_every_width_is_compiled():
    assert (padding_multiple() is None) == (keras.config.backend() == "jax")
