import dataclasses
import json

import pytest
from tiny_corpus import write_corpus

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.run_folder import TrainingResult


@pytest.fixture(scope="module")
def shards(tiny_tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared") / "shards"
    corpus = write_corpus(folder.parent / "corpus.txt", 23)
    prepare([corpus], tiny_tokenizer, folder, PrepareSettings("bert-mlm", sequence_length=11))
    return folder


@pytest.fixture
def pretrain(command, shards, tmp_path):
    def run(*options, data=shards, preset=None):
        start = ["--preset", preset] if preset else ["--size", "tiny"]
        size = ["--steps", 2, "--batch-size", 5]
        given = ["--data", data, "--output", tmp_path / "out", *start, *size, *options]
        return command("pretrain", *given)

    return run


@pytest.mark.slow
def test_a_run_ends_with_a_summary_and_leaves_its_results(pretrain, tmp_path):
    result = pretrain("--masking", "whole_word")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("2 steps, perplexity ")
    assert "rows held out" in result.stdout
    assert result.stdout.endswith(f"Model, metrics and settings: {tmp_path / 'out'}\n")
    assert "step 2/2: " in result.stderr
    settings = json.loads((tmp_path / "out" / "training_config.json").read_text())
    assert (settings["masking"], settings["batch_size"]) == ("whole_word", 5)


def test_as_json_and_quiet(pretrain, monkeypatch, tmp_path):
    given = {}

    def run(data, output, config, progress, **options):
        given.update(options, quiet=progress.quiet, config=config, data=data)
        return TrainingResult(tmp_path, {"steps": 2})

    monkeypatch.setattr("kerazoo.training.pretrain.pretrain", run)
    result = pretrain("--json", "--quiet", "--vocab", "v.txt", "--cased", "--resume")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"output": str(tmp_path / "out"), "steps": 2}
    assert given["quiet"] and given["resume"] and not given["lowercase"]
    assert (given["vocabulary"], given["size"], given["preset"]) == ("v.txt", "tiny", None)
    assert given["config"] == PretrainConfig(steps=2, batch_size=5)


def test_every_setting_has_an_option(command):
    shown = command("pretrain", "--help").output
    for field in dataclasses.fields(PretrainConfig):
        assert f"--{field.name.replace('_', '-')}" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epochs", 2], "`steps` and `epochs` both say how long to train"),
        (["--mask-token-rate", 0.95], "must sum to at most 1"),
        (["--config", "missing.yaml"], "There is no settings file missing.yaml"),
        (["--sequence-length", 12], "The shards hold rows of sequence_length=11"),
        (["--vocab", "missing.txt"], "The vocabulary file does not exist"),
        (["--validation", "missing"], "There is no file or folder missing"),
        (["--max-sequence-length", 7], "at most 7 positions"),
        (["--data-service", "file:///tmp"], "an address like grpc://host:5000, which"),
        (["--data-service", "localhost:1"], "No data service answers at grpc://localhost:1."),
    ],
)
def test_what_is_wrong_is_one_sentence(pretrain, options, message, tmp_path):
    result = pretrain(*options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options", [["--size", "tiny", "--preset", "x"], [], ["--preset", "x", "--vocab", "v"]]
)
def test_contradictions_are_wrong_usage(command, options):
    result = command("pretrain", "--data", "d", "--output", "o", *options)
    assert result.exit_code == 2


def test_a_checkpoint_and_a_size_exclude_each_other(command):
    arguments = ("pretrain", "--data", "d", "--output", "o")
    result = command(*arguments, "--size", "tiny", "--preset", "x")
    assert "--preset goes on with a checkpoint and --size begins a new model; give" in result.stderr
    result = command(*arguments)
    assert "Name a checkpoint with --preset, or a --size to begin anew." in result.stderr


def test_a_damaged_shard_is_told(pretrain, shards, tmp_path):
    import shutil

    copy = shutil.copytree(shards, tmp_path / "copy")
    shard = copy / "shard-00000.tfrecord"
    shard.write_bytes(shard.read_bytes()[:-3])
    result = pretrain(data=copy)
    assert result.exit_code == 1
    assert "shard-00000.tfrecord is damaged" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_model_of_another_vocabulary_is_told(pretrain, preset, tmp_path, tiny_vocabulary):
    corpus = write_corpus(tmp_path / "corpus.txt", 9)
    from kerazoo import WordPieceTokenizer

    tokenizer = WordPieceTokenizer(vocabulary=[*tiny_vocabulary, "more"], lowercase=True)
    settings = PrepareSettings("bert-mlm", sequence_length=11)
    prepare([corpus], tokenizer, tmp_path / "other", settings)
    result = pretrain(data=tmp_path / "other", preset=preset)
    assert result.exit_code == 1
    assert "made with another vocabulary" in result.stderr
    assert not (tmp_path / "out").exists()
