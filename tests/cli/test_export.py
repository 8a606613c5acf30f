import json

import pytest

from kerazoo.cli.export import export_model
from kerazoo.export.signatures import read_signatures
from kerazoo.training.progress import SILENT


def test_versions_follow_each_other_and_a_request_is_shown(command, preset, tmp_path):
    base = tmp_path / "reviews"
    result = command("export", preset, "--output", base, "--no-verify")
    assert result.exit_code == 0, result.stderr
    assert f"Exported: {base / '1'}\n" in result.stdout
    assert """-d '{"instances": ["some text"]}'""" in result.stdout
    assert "/v1/models/reviews:predict" in result.stdout


def test_shown_commands_work_with_a_name_of_several_words(command, preset, tmp_path):
    result = command("export", preset, "--output", tmp_path / "my 影", "--no-verify", "--quiet")
    assert " -e 'MODEL_NAME=my 影' tensorflow/serving\n" in result.stdout
    assert "/v1/models/my%20%E5%BD%B1:predict" in result.stdout


def test_a_hugging_face_model_of_pairs_is_exported_for_pairs(
    command, tiny_text_classifier, tmp_path
):
    tiny_text_classifier.export_to_transformers(tmp_path / "hf")
    result = command(
        "export", tmp_path / "hf", "--output", tmp_path / "m", "--no-verify", "--pairs"
    )
    assert result.exit_code == 0, result.stderr
    assert '"text_pair": "another"' in result.stdout
    signature = read_signatures(tmp_path / "m" / "1")["serving_default"]
    assert set(signature.inputs) == {"text", "text_pair"}


def test_an_export_is_verified(command, preset, tmp_path):
    (tmp_path / "m" / "1").mkdir(parents=True)
    result = command("export", preset, "--output", tmp_path / "m", "--json", "--quiet")
    content = json.loads(result.stdout)
    assert content["path"] == str(tmp_path / "m" / "2")
    assert content["verification"]["ok"] is True, content
    assert result.exit_code == 0
    assert result.stderr == ""


def test_an_export_that_would_not_be_served_exits_with_one(command, preset, tmp_path, monkeypatch):
    class Report:
        def to_dict(self):
            return {"ok": False}

    monkeypatch.setattr("kerazoo.export.verify.verify_saved_model", lambda path: Report())
    monkeypatch.setattr("kerazoo.TextClassifier.export", lambda task, base: tmp_path / "1")
    assert command("export", preset, "--output", tmp_path).exit_code == 1


def test_a_backbone_cannot_be_exported(tiny_backbone, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "b"))
    with pytest.raises(ValueError, match="was not trained for a task"):
        export_model(str(tmp_path / "b"), str(tmp_path / "out"), True, SILENT)
    assert not (tmp_path / "out").exists()


def test_an_output_that_holds_other_things_is_told_before_loading(tmp_path):
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(ValueError, match="holds other things than versions.*precious"):
        export_model("no-such-model", str(tmp_path), False, SILENT)


def test_pairs_are_a_matter_of_classifiers(command, tiny_causal_lm, tmp_path):
    tiny_causal_lm.save_to_preset(tmp_path / "lm")
    result = command("export", tmp_path / "lm", "--output", tmp_path / "m", "--pairs")
    assert result.exit_code == 1
    assert "Received: a model for causal-lm" in result.stderr
