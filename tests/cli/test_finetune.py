import json

import pytest


@pytest.fixture
def finetune(command, preset, rows, tmp_path):
    def run(*options, train=rows[0], validation=rows[1]):
        arguments = ["--preset", preset, "--train", train, "--output", tmp_path / "out"]
        if validation:
            arguments += ["--validation", validation]
        return command("finetune", "text-classification", *arguments, *options)

    return run


def test_a_run_ends_with_a_summary_and_leaves_its_results(finetune, tmp_path):
    result = finetune("--epochs", 1, "--batch-size", 5)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("accuracy 0.")
    assert result.stdout.endswith(f"Model, metrics and settings: {tmp_path / 'out'}\n")
    assert "epoch 1/1: " in result.stderr
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["validation_rows"] == 5
    settings = json.loads((tmp_path / "out" / "training_config.json").read_text())
    assert settings["batch_size"] == 5


def test_as_json_and_quiet(finetune):
    result = finetune("--epochs", 1, "--json", "--quiet", validation=None)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert json.loads(result.stdout)["train_rows"] == 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--batch-size", 0], "`batch_size` must be a number above zero. Received: batch_size=0"),
        (["--freeze-backbone", "--lora-rank", 2], "exclude each other"),
        (["--config", "missing.yaml"], "There is no settings file missing.yaml"),
        (["--sequence-length", 700], "at most 11 tokens of a text. Received: sequence_length=700"),
    ],
)
def test_unfit_settings_are_told(finetune, options, message, tmp_path):
    result = finetune(*options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.tsv is empty"),
        ("text\tlabel\n", "bad.tsv has a header and no rows"),
        ("text\tlabel\nonly text\n", "bad.tsv, line 2: too few columns"),
        ("text\tlabel\na\tgood\nb\tgood\n", "bad.tsv: every row has the label 'good'"),
        (
            "text\tlabel\na\tgood\nb\tnice\n",
            "the label 'bad' is unknown; the model knows good, nice",
        ),
    ],
)
def test_wrong_rows_are_told(finetune, content, message, tmp_path):
    file = tmp_path / "bad.tsv"
    file.write_text(content)
    result = finetune(train=file)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_folder_that_is_no_checkpoint_and_a_cut_file_are_told(command, rows, tmp_path, preset):
    import shutil

    arguments = ["--train", rows[0], "--validation", rows[1], "--output", tmp_path / "out"]
    result = command("finetune", "text-classification", "--preset", tmp_path, *arguments)
    assert result.exit_code == 1
    assert f"{tmp_path} is no checkpoint" in result.stderr
    damaged = shutil.copytree(preset, tmp_path / "damaged")
    weights = damaged / "model.weights.h5"
    weights.write_bytes(weights.read_bytes()[:2000])
    result = command("finetune", "text-classification", "--preset", damaged, *arguments)
    assert result.exit_code == 1
    assert "model.weights.h5" in result.stderr or "truncated" in result.stderr
    assert not (tmp_path / "out").exists()


def test_another_model_is_left_as_it_is(finetune, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("precious")
    result = finetune()
    assert result.exit_code == 1
    assert "something at the output path already" in result.stderr
    assert (tmp_path / "out" / "config.json").read_text() == "precious"
