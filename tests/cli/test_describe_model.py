import shutil

import pytest

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


def test_a_backbone_has_no_task(tiny_backbone, tiny_tokenizer, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "b"))
    tiny_tokenizer.save_to_preset(str(tmp_path / "b"))
    description = describe_model(tmp_path / "b")
    assert (description["task"], description["labels"]) == (None, None)
    assert description["parameters"] == tiny_backbone.count_params()
    assert description["tokenizer"]["tokens"] == 31


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
