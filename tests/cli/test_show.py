import json

import pytest


def shown(command, path):
    result = command("show", path)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_a_preset_is_described_for_people(command, preset):
    output = shown(command, preset)
    assert "format               kerazoo preset\n" in output
    assert "labels               bad, good, mixed\n" in output
    assert "parameters           6,931\n" in output
    assert "tokenizer            kind WordPiece, tokens 31, lowercase yes\n" in output


def test_what_is_not_known_is_left_out(command, preset):
    assert "\nsize " not in shown(command, preset)


def test_as_json(command, huggingface_folder):
    result = command("show", huggingface_folder, "--json")
    content = json.loads(result.stdout)
    assert content["format"] == "Hugging Face folder"
    assert content["labels"] == ["bad", "good", "mixed"]


@pytest.mark.parametrize("make", [lambda path: path / "missing", lambda path: path])
def test_what_is_no_model_is_told(command, tmp_path, make):
    result = command("show", make(tmp_path))
    assert result.exit_code == 1
    assert str(tmp_path) in result.stderr


def test_each_signature_has_a_line(command, tiny_saved_model):
    lines = shown(command, tiny_saved_model).splitlines()
    assert lines[-2].startswith("signatures  features: ")
    assert lines[-1].startswith("            serving_default: text: (batch,) string -> ")
