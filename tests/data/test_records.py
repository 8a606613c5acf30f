import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.data.manifest import MANIFEST_FILE, Manifest, TokenizerDescription
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import (
    check_vocabulary,
    file_hash,
    parse_records,
    read_manifest,
    read_shards,
)
from kerazoo.data.shard import Counts, Shard


@pytest.fixture
def folder(tmp_path, tiny_tokenizer):
    """Two shards of three and two rows of ids [row, row + 1, …]."""
    settings = PrepareSettings(sequence_length=11)
    described = TokenizerDescription.of(tiny_tokenizer)
    manifest = Manifest(settings, described, Counts(rows=5), ())
    shards = []
    for name, rows in (("shard-00000.tfrecord", (5, 6, 7)), ("shard-00001.tfrecord", (8, 9))):
        with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
            for row in rows:
                ids = np.arange(row, 2 * row - 1)
                words = manifest.row_format.token_words(ids, np.ones(len(ids), bool))
                writer.write(manifest.row_format.encode(words))
        size = (tmp_path / name).stat().st_size
        counts = Counts(rows=len(rows))
        shards.append(Shard(name, size, file_hash(tmp_path / name), "0", counts))
    manifest = dataclasses.replace(manifest, shards=tuple(shards))
    (tmp_path / MANIFEST_FILE).write_text(manifest.as_json(), encoding="utf-8")
    return tmp_path


def first_ids(dataset, manifest):
    batches = dataset.batch(4).map(lambda records: parse_records(records, manifest))
    return [row[0] for batch in batches for row in batch["token_ids"].numpy()]


def test_shards_are_read_in_order_or_as_named(folder):
    manifest = read_manifest(folder)
    assert manifest.shard_names == ["shard-00000.tfrecord", "shard-00001.tfrecord"]
    assert first_ids(read_shards(folder), manifest) == [5, 6, 7, 8, 9]
    names = manifest.shard_names[::-1]
    assert first_ids(read_shards(folder, names), manifest) == [8, 9, 5, 6, 7]
    assert first_ids(read_shards(folder, names[:1], verify=False), manifest) == [8, 9]


def test_the_manifest_comes_back(folder, tiny_tokenizer):
    manifest = read_manifest(folder)
    assert (manifest.objective, manifest.sequence_length, manifest.rows) == ("bert", 11, 5)
    assert manifest.pad_token_id == tiny_tokenizer.pad_token_id == 3
    assert json.loads(manifest.as_json()) == json.loads((folder / MANIFEST_FILE).read_text())


def test_a_damaged_shard_is_named(folder):
    file = folder / "shard-00001.tfrecord"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"shard-00001\.tfrecord is damaged: its checksum"):
        read_shards(folder)
    read_shards(folder, ["shard-00000.tfrecord"])
    file.write_bytes(content[:-3])
    with pytest.raises(ValueError, match=r"shard-00001\.tfrecord is damaged: it has \d+ bytes"):
        read_shards(folder, verify=False)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"shard-00001\.tfrecord is missing"):
        read_shards(folder)


def test_a_shard_that_is_not_listed_is_refused(folder):
    with pytest.raises(ValueError, match=r"lists no such shard. Received: 'other'"):
        read_shards(folder, ["other"])


def test_another_vocabulary_is_refused(folder, tiny_tokenizer, tiny_vocabulary):
    from kerazoo import WordPieceTokenizer

    manifest = read_manifest(folder)
    check_vocabulary(manifest, tiny_tokenizer)
    swapped = [*tiny_vocabulary[:-2], tiny_vocabulary[-1], tiny_vocabulary[-2]]
    with pytest.raises(ValueError, match="made with another vocabulary"):
        check_vocabulary(manifest, WordPieceTokenizer(swapped))
    with pytest.raises(ValueError, match=r"Received: lowercase=False; the shards' has lowercase="):
        check_vocabulary(manifest, WordPieceTokenizer(tiny_vocabulary, lowercase=False))
