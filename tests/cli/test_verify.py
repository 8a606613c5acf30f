import json
import shutil


def test_a_good_export_exits_with_zero(command, tiny_saved_model):
    result = command("verify", tiny_saved_model)
    assert result.exit_code == 0, result.output
    assert "should serve this folder" in result.stdout


def test_a_faulty_export_exits_with_one(command, tiny_saved_model, tmp_path):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    for file in (folder / "variables").iterdir():
        file.unlink()
    result = command("verify", folder, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


def test_a_missing_folder_is_told(command, tmp_path):
    result = command("verify", tmp_path / "missing")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
