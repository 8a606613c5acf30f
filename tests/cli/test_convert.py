import json


def test_a_preset_becomes_a_hugging_face_folder(command, preset, tmp_path):
    result = command("convert", preset, tmp_path / "hf", "--to", "huggingface")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"classifier written: {tmp_path / 'hf'} (huggingface)\n"
    assert (tmp_path / "hf" / "model.safetensors").is_file()


def test_the_load_report_is_printed(command, huggingface_folder, tmp_path):
    result = command("convert", huggingface_folder, tmp_path / "own")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"41 weights loaded from {huggingface_folder}.\n")
    result = command("convert", huggingface_folder, tmp_path / "again", "--json")
    assert json.loads(result.stdout)["kind"] == "classifier"


def test_a_destination_that_holds_something_is_kept(command, preset, tmp_path):
    (tmp_path / "notes").write_text("precious")
    result = command("convert", preset, tmp_path)
    assert result.exit_code == 1
    assert "something at the output path already" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]
