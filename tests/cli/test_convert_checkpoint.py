import keras_nlp
import numpy as np
import pytest
from keras import ops
from safetensors.numpy import load_file

from kerazoo import (
    BertBackbone,
    CausalLM,
    GPTBackbone,
    TextClassifier,
    TextSimilarity,
    TokenClassifier,
)
from kerazoo.cli.convert_checkpoint import convert_checkpoint
from kerazoo.cli.describe_model import describe_model

TEXTS = ["the film was good", "电影", ""]


def test_hugging_face_to_kerazoo_and_back_is_exact(huggingface_folder, tmp_path):
    there = convert_checkpoint(str(huggingface_folder), str(tmp_path / "own"))
    back = convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "hf"), "huggingface")
    assert (there["kind"], back["kind"]) == ("classifier", "classifier")
    assert (there["format"], back["report"]) == ("kerazoo", None)
    before = load_file(huggingface_folder / "model.safetensors")
    after = load_file(tmp_path / "hf" / "model.safetensors")
    assert set(before) == set(after)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_classifier_keeps_its_answers(huggingface_folder, tiny_text_classifier, tmp_path):
    convert_checkpoint(str(huggingface_folder), str(tmp_path / "own"))
    task = TextClassifier.from_preset(str(tmp_path / "own"))
    for found, expected in zip(
        task.classify(TEXTS), tiny_text_classifier.classify(TEXTS), strict=True
    ):
        assert found["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)


def test_a_backbone_keeps_its_tokenizer(tiny_backbone, tiny_tokenizer, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "own"))
    tiny_tokenizer.save_to_preset(str(tmp_path / "own"))
    to_hf = convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "hf"), "huggingface")
    back = convert_checkpoint(str(tmp_path / "hf"), str(tmp_path / "back"))
    assert (to_hf["kind"], back["kind"]) == ("backbone", "backbone")
    assert f"weights loaded from {tmp_path / 'hf'}" in back["report"]
    backbone = BertBackbone.from_preset(str(tmp_path / "back"))
    for ours, theirs in zip(backbone.weights, tiny_backbone.weights, strict=True):
        if "seed_generator" not in ours.path:
            assert np.array_equal(ours, theirs)
    vocabulary = (tmp_path / "back" / "assets" / "tokenizer" / "vocabulary.txt").read_text()
    assert vocabulary.split() == tiny_tokenizer.get_vocabulary()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="to='onnx'"):
        convert_checkpoint("x", str(tmp_path / "out"), "onnx")


def test_a_backbone_may_have_no_tokenizer(tiny_backbone, tmp_path):
    tiny_backbone.export_to_transformers(tmp_path / "hf")
    convert_checkpoint(str(tmp_path / "hf"), str(tmp_path / "own"))
    assert (tmp_path / "own" / "model.weights.h5").is_file()
    assert not (tmp_path / "own" / "tokenizer.json").exists()
    convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "again"), "huggingface")
    assert not (tmp_path / "again" / "vocab.txt").exists()
    assert describe_model(tmp_path / "hf")["tokenizer"] is None


@pytest.mark.parametrize("normalize_first", [False, True], ids=["GPT-1", "GPT-2"])
def test_a_language_model_there_and_back_is_exact(make_language_model, tmp_path, normalize_first):
    task = make_language_model(normalize_first)
    task.export_to_transformers(tmp_path / "hf")
    there = convert_checkpoint(str(tmp_path / "hf"), str(tmp_path / "own"))
    back = convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "again"), "huggingface")
    assert (there["kind"], back["kind"]) == ("language model", "language model")
    for file in sorted((tmp_path / "hf").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes(), file.name
    copy = CausalLM.from_preset(tmp_path / "own", sequence_length=37)
    features = copy.preprocessor(["the food", " a fool"])[0]
    found, expected = (ops.convert_to_numpy(model(features)) for model in (copy, task))
    np.testing.assert_array_equal(found, expected)
    assert np.ptp(expected) > 0.1


def test_a_language_model_without_tokenizer_is_a_backbone(make_language_model, tmp_path):
    CausalLM(make_language_model().backbone).export_to_transformers(tmp_path / "hf")
    result = convert_checkpoint(str(tmp_path / "hf"), str(tmp_path / "own"))
    assert result["kind"] == "backbone"
    assert not (tmp_path / "own" / "task.json").exists()
    assert GPTBackbone.from_preset(tmp_path / "own").config.vocabulary_size == 262


def test_a_gpt_backbone_keeps_its_tokenizer(make_language_model, tmp_path):
    task = make_language_model()
    task.backbone.save_to_preset(tmp_path / "own")
    task.preprocessor.tokenizer.save_to_preset(str(tmp_path / "own"))
    to_hf = convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "hf"), "huggingface")
    back = convert_checkpoint(str(tmp_path / "hf"), str(tmp_path / "back"))
    assert (to_hf["kind"], back["kind"]) == ("backbone", "backbone")
    assert describe_model(tmp_path / "back")["tokenizer"]["tokens"] == 262


def test_a_head_that_huggingface_lacks_is_said(make_language_model, tmp_path):
    TextClassifier(make_language_model().backbone, num_classes=3).save_to_preset(tmp_path / "own")
    with pytest.raises(ValueError, match="only the backbone can be written"):
        convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "hf"), "huggingface")
    assert not (tmp_path / "hf").exists()


def test_a_task_that_huggingface_lacks_is_said(make_tiny_gpt, tmp_path):
    TextSimilarity(make_tiny_gpt()).save_to_preset(tmp_path / "own")
    with pytest.raises(ValueError, match="for text-similarity has no Hugging Face form"):
        convert_checkpoint(str(tmp_path / "own"), str(tmp_path / "hf"), "huggingface")
    assert not (tmp_path / "hf").exists()


def test_a_preset_of_kerashub_is_not_converted(tmp_path):
    backbone = keras_nlp.models.BertBackbone(31, 1, 2, 12, 14, max_sequence_length=11)
    backbone.save_to_preset(str(tmp_path / "theirs"))
    for to in ("kerazoo", "huggingface"):
        with pytest.raises(ValueError, match="finetune. trains it.*BertBackbone of KerasHub"):
            convert_checkpoint(str(tmp_path / "theirs"), str(tmp_path / "out"), to)
    TokenClassifier(backbone, ["O", "B-X"]).save_to_preset(str(tmp_path / "task"))
    with pytest.raises(ValueError, match="has no Hugging Face form.*BertBackbone of KerasHub"):
        convert_checkpoint(str(tmp_path / "task"), str(tmp_path / "out"), "huggingface")
