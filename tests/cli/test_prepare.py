import json

import pytest

from kerazoo.cli.prepare import _SETTINGS
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import read_manifest
from kerazoo.tokenizers.vocabulary_file import write_vocabulary

TEXT = "a good film\nthe play was dull\nvery good\n\n" * 6


@pytest.fixture
def files(tiny_vocabulary, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    write_vocabulary(tmp_path / "vocab.txt", tiny_vocabulary)
    return tmp_path / "corpus.txt", tmp_path / "vocab.txt"


def test_every_setting_has_an_option():
    assert set(_SETTINGS) == set(PrepareSettings.__dataclass_fields__)


def test_a_corpus_is_prepared(command, files, tmp_path):
    corpus, vocabulary = files
    arguments = ("prepare", corpus, "--vocab", vocabulary, "--sequence-length", 21)
    result = command(*arguments, "--output", tmp_path / "shards")
    assert result.exit_code == 0, result.stderr
    manifest = read_manifest(tmp_path / "shards")
    assert manifest.sequence_length == 21
    assert result.stdout.startswith(f"6 documents, {manifest.rows} rows of ")
    assert "with a random second text, in 1 shard: " in result.stdout
    result = command(*arguments, "--output", tmp_path / "more", "--json", "--objective", "bert-mlm")
    assert json.loads(result.stdout)["documents"] == 6


def test_a_presets_tokenizer_is_taken(command, files, preset, tmp_path):
    result = command("prepare", files[0], "--preset", preset, "--output", tmp_path / "shards")
    assert result.exit_code == 0, result.stderr
    assert read_manifest(tmp_path / "shards").tokenizer.vocabulary_size == 31


def test_what_is_odd_is_said(command, files, tmp_path):
    corpus, vocabulary = files
    corpus.write_text("very very very very good film\n\n" * 5 + "a \ufffd film\n", encoding="utf-8")
    arguments = ("prepare", corpus, "--vocab", vocabulary, "--output")
    result = command(*arguments, tmp_path / "shards", "--sequence-length", 9)
    assert "most second texts are random" in result.stderr
    assert "Note: 1 line holds U+FFFD" in result.stderr
    result = command(*arguments, tmp_path / "again", "--sequence-length", 9, "--quiet")
    assert result.stderr == ""
    corpus.write_text("a \ufffd film\nb \ufffd\n\n" * 4, encoding="utf-8")
    result = command(*arguments, tmp_path / "more", "--sequence-length", 9)
    assert "Note: 8 lines hold U+FFFD" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--vocab FILE, or a model with --preset"),
        (("--vocab", "a", "--preset", "b"), "--vocab FILE, or a model with --preset"),
        (("--preset", "b", "--cased"), "--cased goes with --vocab"),
        (("--vocab", "a", "--pipeline-option=--x"), "goes with --runner beam"),
        (("--vocab", "a", "--segmenter", "thulac"), "'thulac' is not one of"),
    ],
)
def test_wrong_usage(command, tmp_path, arguments, message):
    result = command("prepare", "corpus.txt", "--output", tmp_path / "shards", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_single_document_is_told(command, files, tmp_path):
    corpus, vocabulary = files
    corpus.write_text("a good film\nvery good\n")
    result = command("prepare", corpus, "--vocab", vocabulary, "--output", tmp_path / "shards")
    assert result.exit_code == 1
    assert "there is only one. Put blank lines between documents" in result.stderr
    assert not (tmp_path / "shards").exists()
