import keras
import pytest

from kerazoo import TextClassifier, TextClassifierPreprocessor
from kerazoo.training.preset_predictor import PresetPredictor, padding_multiple


def test_answers_equal_the_tasks(preset, tiny_text_classifier):
    predictor = PresetPredictor.from_preset(preset)
    assert predictor.labels == ["bad", "good", "mixed"]
    assert predictor.pairs is False
    texts = ["the film was good", "", "dull dull dull dull dull"]
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
    with pytest.raises(ValueError, match="own was not trained for a task. Train one: kerazoo fine"):
        PresetPredictor.from_preset(tmp_path / "own")


def test_a_foreign_checkpoint_without_a_head_is_refused(tiny_text_classifier, tmp_path):
    from kerazoo.conversion.huggingface import save_huggingface

    backbone = tiny_text_classifier.backbone
    tokenizer = tiny_text_classifier.preprocessor.tokenizer
    save_huggingface(backbone, backbone.config, tmp_path / "hf", tokenizer=tokenizer)
    with pytest.raises(ValueError, match="hf was not trained for a task"):
        PresetPredictor.from_preset(tmp_path / "hf")


def test_batches_have_one_width_where_every_width_is_compiled():
    assert (padding_multiple() is None) == (keras.config.backend() == "jax")


def test_truncated_rows_are_counted_without_a_warning(preset):
    predictor = PresetPredictor.from_preset(preset)
    assert (predictor.truncated, predictor.load_note) == (0, None)
    predictor.answer({"text": ["good", "good " * 50, "bad " * 60]}, 2)
    predictor.answer({"text": ["good " * 50]}, 2)
    assert predictor.truncated == 3
    assert predictor.sequence_length == 9


def test_a_foreign_classifier_takes_texts_and_pairs(make_tiny_backbone, tiny_tokenizer, tmp_path):
    # Large weights, so that the second text shows in the probabilities.
    task = TextClassifier(
        make_tiny_backbone(initializer_range=1.0),
        labels=["no", "yes"],
        preprocessor=TextClassifierPreprocessor(tiny_tokenizer, sequence_length=9),
    )
    task.classifier.kernel.assign(task.classifier.kernel * 50)
    task.export_to_transformers(tmp_path / "hf")
    predictor = PresetPredictor.from_preset(tmp_path / "hf")
    assert predictor.pairs is None
    (single,) = predictor.answer({"text": ["good"]}, 1)
    (pair,) = predictor.answer({"text": ["good"], "text_pair": ["bad"]}, 1)
    assert single["probabilities"] == pytest.approx(task.classify(["good"])[0]["probabilities"])
    expected = task.classify((["good"], ["bad"]))[0]["probabilities"]
    assert pair["probabilities"] == pytest.approx(expected)
    assert pair["probabilities"]["yes"] != pytest.approx(single["probabilities"]["yes"], abs=1e-3)


def test_a_task_without_a_tokenizer_is_refused(make_tiny_backbone):
    with pytest.raises(ValueError, match="saved without a tokenizer"):
        PresetPredictor(TextClassifier(make_tiny_backbone(), num_classes=2))
