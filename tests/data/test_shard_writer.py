import os

import pytest

from kerazoo.data.document_blocks import ShardSource
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import file_hash
from kerazoo.data.shard_writer import ShardWriter, finished_shard, read_shard, write_whole
from kerazoo.data.unfinished_folder import UnfinishedFolder

SETTINGS = PrepareSettings(sequence_length=17)
SOURCE = ShardSource(2, 10, [[["a good film", "dull"], ["not great"]]])


@pytest.fixture
def folder(tiny_tokenizer, tmp_path):
    return UnfinishedFolder(tmp_path / "shards", tiny_tokenizer, SETTINGS).path


def test_a_shard_is_written_and_described(folder):
    shard = ShardWriter(folder, SETTINGS).write(SOURCE)
    file = folder / "shard-00002.tfrecord"
    assert (shard.name, shard.bytes, shard.sha256) == (
        file.name,
        file.stat().st_size,
        file_hash(file),
    )
    assert shard.counts.documents == 2
    assert read_shard(folder, 2) == finished_shard(folder, SOURCE) == shard
    assert sorted(os.listdir(folder / ".unfinished")) == ["run.json", "shard-00002.tfrecord.json"]


def test_what_is_damaged_or_missing_is_not_finished(folder):
    assert finished_shard(folder, SOURCE) is None
    writer = ShardWriter(folder, SETTINGS)
    shard = writer.write(SOURCE)
    file = folder / shard.name
    for content in (b"", bytes(shard.bytes)):
        file.write_bytes(content)
        assert finished_shard(folder, SOURCE) is None
    file.unlink()
    assert finished_shard(folder, SOURCE) is None
    assert writer.write(SOURCE) == shard


def test_a_shard_of_other_texts_is_told(folder):
    ShardWriter(folder, SETTINGS).write(SOURCE)
    with pytest.raises(ValueError, match="The corpus has changed"):
        finished_shard(folder, ShardSource(2, 10, [[["another film"], ["dull"]]]))


def test_a_failure_leaves_no_file(folder):
    writer = ShardWriter(folder, SETTINGS)
    with pytest.raises(ValueError, match="there is only one"):
        writer.write(ShardSource(2, 10, [SOURCE.blocks[0], [["a single document"]]]))
    assert os.listdir(folder / ".unfinished") == ["run.json"]
    assert not (folder / "shard-00002.tfrecord").exists()


def test_a_file_is_whole_or_as_it_was(tmp_path):
    file = tmp_path / "a.json"
    write_whole(file, "one")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "two \ud800")
    assert file.read_text() == "one"
    assert os.listdir(tmp_path) == ["a.json"]
