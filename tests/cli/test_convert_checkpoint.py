import numpy as np
import pytest
from safetensors.numpy import load_file

from kerazoo import BertBackbone, TextClassifier
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
