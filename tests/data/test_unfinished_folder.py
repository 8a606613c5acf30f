import os

import pytest

from kerazoo import WordPieceTokenizer
from kerazoo.data.manifest import read_manifest
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.shard import Counts, Shard
from kerazoo.data.unfinished_folder import UnfinishedFolder

SETTINGS = PrepareSettings(sequence_length=17)
SHARDS = [Shard(f"shard-0000{n}.tfrecord", 5, "a", "b", Counts(rows=n + 2)) for n in (1, 0)]


def test_a_folder_is_begun_and_finished(tiny_tokenizer, tmp_path):
    folder = UnfinishedFolder(tmp_path / "new", tiny_tokenizer, SETTINGS)
    assert not folder.is_resumed
    assert UnfinishedFolder(tmp_path / "new", tiny_tokenizer, SETTINGS).is_resumed
    manifest = folder.finish(SHARDS)
    assert read_manifest(tmp_path / "new") == manifest
    assert manifest.shard_names == ["shard-00000.tfrecord", "shard-00001.tfrecord"]
    assert manifest.rows == 5
    assert sorted(os.listdir(tmp_path / "new")) == ["assets", "manifest.json", "tokenizer.json"]
    # What the ids mean stays with them.
    assert preset_shaped(tmp_path / "new").get_vocabulary() == tiny_tokenizer.get_vocabulary()


def preset_shaped(folder):
    from kerazoo.tokenizers.base import Tokenizer

    return Tokenizer.from_preset(folder)


def test_a_finished_folder_is_not_begun_again(tiny_tokenizer, tmp_path):
    UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS).finish(SHARDS)
    held = sorted(os.listdir(tmp_path))
    with pytest.raises(FileExistsError, match="shards that are complete.*Received: output="):
        UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS)
    # Killed after the manifest was written and before the rest was removed.
    (tmp_path / ".unfinished").mkdir()
    (tmp_path / ".unfinished" / "run.json").write_text("{}")
    with pytest.raises(FileExistsError, match="shards that are complete"):
        UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS)
    assert sorted(os.listdir(tmp_path)) == [".unfinished", *held]


def test_another_folder_is_not_begun(tiny_tokenizer, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something at the output path"):
        UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS)


def test_a_run_that_had_hardly_begun_is_begun_again(tiny_tokenizer, tmp_path):
    UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS)
    (tmp_path / ".unfinished" / "run.json").unlink()
    assert not UnfinishedFolder(tmp_path, tiny_tokenizer, PrepareSettings(seed=3)).is_resumed


def test_another_tokenizer_or_setting_is_told(tiny_tokenizer, tiny_vocabulary, tmp_path):
    UnfinishedFolder(tmp_path, tiny_tokenizer, SETTINGS)
    with pytest.raises(ValueError, match=r"another sequence_length.*sequence_length=99 instead of"):
        UnfinishedFolder(tmp_path, tiny_tokenizer, PrepareSettings(sequence_length=99))
    other = WordPieceTokenizer([*tiny_vocabulary, "more"])
    with pytest.raises(ValueError, match="another vocabulary_size.*32 instead of 31"):
        UnfinishedFolder(tmp_path, other, SETTINGS)


def test_only_a_folder_with_a_shard_is_worth_keeping(tiny_tokenizer, tmp_path):
    folder = UnfinishedFolder(tmp_path / "a", tiny_tokenizer, SETTINGS)
    (tmp_path / "a" / ".unfinished" / "shard-00000.tfrecord.json").write_text("{}")
    folder.remove_if_nothing_is_finished()
    assert (tmp_path / "a").exists()
    (tmp_path / "a" / ".unfinished" / "shard-00000.tfrecord.json").unlink()
    folder.remove_if_nothing_is_finished()
    assert not (tmp_path / "a").exists()
