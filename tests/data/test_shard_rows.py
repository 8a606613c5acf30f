from pathlib import Path

import numpy as np
import pytest

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import read_manifest, read_shards
from kerazoo.data.shard_rows import ShardRows


@pytest.fixture(scope="module")
def folder(corpus, tiny_tokenizer, tmp_path_factory):
    """35 documents in 5 shards."""
    folder = tmp_path_factory.mktemp("prepared") / "shards"
    settings = PrepareSettings(sequence_length=19, documents_per_block=4, blocks_per_shard=2)
    prepare([corpus(35)], tiny_tokenizer, folder, settings)
    return folder


@pytest.fixture
def make(folder):
    return lambda **options: ShardRows(folder, read_manifest(folder), **options)


def records(dataset):
    return [record for _, rows in dataset.as_numpy_iterator() for record in rows]


def test_an_epoch_of_groups_has_every_row_that_is_not_held_out_once(make, folder):
    source = make(held_out_fraction=0.2, group_rows=20)
    everything = list(read_shards(folder).as_numpy_iterator())
    sizes = source.group_sizes(2)
    assert len(sizes) > 2
    groups = list(source.groups(2 * len(sizes)).take(len(sizes)).as_numpy_iterator())
    assert [number for number, _ in groups] == list(range(2 * len(sizes), 3 * len(sizes)))
    assert [len(rows) for _, rows in groups] == sizes
    held_out = list(source.held_out().as_numpy_iterator())
    assert len(held_out) == source.held_out_rows == round(0.2 * len(everything))
    trained = [record for _, rows in groups for record in rows]
    assert len(trained) == source.training_rows
    assert sorted(trained + held_out) == sorted(everything)


def test_the_rows_held_out_are_the_last_ones_of_each_shard(make, folder):
    source = make(held_out_fraction=0.3)
    manifest = read_manifest(folder)
    expected, before = [], 0
    for shard in manifest.shards:
        rows = list(read_shards(folder, [shard.name]).as_numpy_iterator())
        total = before + len(rows)
        count = round(0.3 * total) - round(0.3 * before)
        expected += rows[len(rows) - count :]
        before = total
    assert list(source.held_out().as_numpy_iterator()) == expected


def test_shards_come_in_another_order_in_every_epoch_and_for_every_seed(make):
    def order(epoch, seed):
        source = make(seed=seed, group_rows=1)
        count = len(source.group_sizes(0))
        return records(source.groups(epoch * count).take(count))

    assert order(0, seed=1) == order(0, seed=1)
    assert order(0, seed=1) != order(1, seed=1) != order(0, seed=2)


def test_a_small_corpus_is_one_group(make):
    source = make()
    assert source.group_sizes(0) == [source.training_rows]


def test_mean_tokens_and_fingerprint(make, folder):
    source = make()
    counts = read_manifest(folder).counts
    assert np.isclose(source.mean_tokens, counts.tokens / counts.rows)
    assert len(source.fingerprint) == 64


def test_a_damaged_shard_is_named(make, folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    shard = copy / "shard-00001.tfrecord"
    data = bytearray(shard.read_bytes())
    data[40] ^= 1
    shard.write_bytes(data)
    with pytest.raises(ValueError, match=r"shard-00001\.tfrecord is damaged"):
        ShardRows(copy, read_manifest(copy))


def test_the_place_of_a_row_is_known(make, folder):
    source = make(held_out_fraction=0.2, group_rows=20)
    groups = list(source.groups(4).take(3).as_numpy_iterator())
    for number, rows in groups:
        for row in (0, len(rows) // 2, len(rows) - 1):
            file, place = source.place(int(number), row)
            assert (
                list(read_shards(folder, [Path(file).name]).as_numpy_iterator())[place] == rows[row]
            )
