import shutil

import pytest
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt
from tiny_token_classifier import make_tiny_token_classifier

from kerazoo import GPTBackbone, TextSimilarity
from kerazoo.cli.describe_model import describe_model


def test_every_format_tells_the_same_of_a_classifier(
    preset, huggingface_folder, tiny_text_classifier
):
    ours, theirs = describe_model(preset), describe_model(huggingface_folder)
    assert ours["parameters"] == tiny_text_classifier.count_params()
    assert ours["task"] == "text-classification"
    assert ours["labels"] == ["bad", "good", "mixed"]
    assert (ours["family"], ours["num_layers"], ours["max_sequence_length"]) == ("bert", 2, 11)
    assert ours["tokenizer"] == {"kind": "WordPiece", "tokens": 31, "lowercase": True}
    own = {"format", "path", "pairs", "sequence_length"}
    assert (ours["pairs"], ours["sequence_length"]) == (False, 9)
    assert {k: v for k, v in ours.items() if k not in own} == {
        k: v for k, v in theirs.items() if k not in own
    }


def test_a_crf_is_said(tmp_path):
    for crf in (False, True):
        make_tiny_token_classifier(crf=crf).save_to_preset(str(tmp_path / str(crf)))
        assert describe_model(tmp_path / str(crf))["crf"] is crf


def test_a_backbone_has_no_task(tiny_backbone, tiny_tokenizer, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "b"))
    tiny_tokenizer.save_to_preset(str(tmp_path / "b"))
    description = describe_model(tmp_path / "b")
    assert (description["task"], description["labels"]) == (None, None)
    assert description["parameters"] == tiny_backbone.count_params()
    assert description["tokenizer"]["tokens"] == 31


@pytest.mark.parametrize("normalize_first", [False, True], ids=["GPT-1", "GPT-2"])
def test_every_format_tells_the_same_of_a_language_model(
    make_language_model, tmp_path, normalize_first
):
    task = make_language_model(normalize_first)
    task.save_to_preset(tmp_path / "own")
    task.export_to_transformers(tmp_path / "hf")
    ours, theirs = describe_model(tmp_path / "own"), describe_model(tmp_path / "hf")
    assert (ours["family"], ours["task"], ours["labels"]) == ("gpt", "causal-lm", None)
    assert ours["parameters"] == task.count_params()
    assert ours["max_sequence_length"] == 40
    assert ours["tokenizer"] == {"kind": "byte-level BPE", "tokens": 262}
    own = {"format", "path", "pairs", "sequence_length"}
    assert {k: v for k, v in ours.items() if k not in own} == {
        k: v for k, v in theirs.items() if k not in own
    }


@pytest.mark.parametrize(("labels", "units"), [(["no", "yes"], 2), (None, 1)])
def test_the_parameters_of_other_heads(tmp_path, labels, units):
    task = TextSimilarity(tiny_gpt(), labels=labels)
    task.save_to_preset(tmp_path)
    description = describe_model(tmp_path)
    assert description["parameters"] == task.count_params()
    assert task.count_params() - task.backbone.count_params() == 21 * units


def test_task_tokens_are_counted(tmp_path):
    tiny_gpt().save_to_preset(tmp_path)
    tiny_byte_tokenizer(task_tokens=True).save_to_preset(tmp_path)
    assert describe_model(tmp_path)["tokenizer"]["tokens"] == 265


@pytest.mark.parametrize("size", ["gpt_tiny", "gpt2_tiny"])
def test_named_sizes_of_gpt_are_known(tmp_path, size):
    backbone = GPTBackbone.from_size(size)
    backbone.save_to_preset(tmp_path)
    description = describe_model(tmp_path)
    assert description["size"] == size
    assert description["parameters"] == backbone.count_params()


def test_named_sizes_are_known(make_tiny_backbone, tmp_path):
    size = {"num_layers": 2, "num_heads": 2, "hidden_dim": 128, "intermediate_dim": 512}
    backbone = make_tiny_backbone(**size, vocabulary_size=30_522)
    backbone.save_to_preset(str(tmp_path / "b"))
    assert describe_model(tmp_path / "b")["size"] == "tiny"
    assert describe_model(tmp_path / "b")["tokenizer"] is None


def test_a_saved_model(tiny_saved_model, tmp_path):
    for version in ("2", "10"):
        shutil.copytree(tiny_saved_model, tmp_path / version)
    description = describe_model(tmp_path)
    assert description["path"] == str(tmp_path / "10")
    assert description["versions"] == ["2", "10"]
    assert description["labels"] == ["bad", "good", "mixed"]
    assert any(line.startswith("serving_default: text: ") for line in description["signatures"])
    assert describe_model(tiny_saved_model)["versions"] is None


def test_a_damaged_config_is_named(preset, tmp_path):
    folder = shutil.copytree(preset, tmp_path / "damaged")
    (folder / "config.json").write_text('{"class_name": ')
    with pytest.raises(ValueError, match=r"config\.json, line 1: not valid JSON"):
        describe_model(folder)
