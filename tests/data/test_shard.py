import dataclasses

from kerazoo.data.shard import Counts, Shard


def test_counts_add_up():
    total = Counts(documents=2, rows=7, random_next=3) + Counts(documents=5, tokens=11)
    assert total == Counts(documents=7, rows=7, random_next=3, tokens=11)


def test_a_shard_comes_back_from_json():
    shard = Shard("shard-00003.tfrecord", 17, "a", "b", Counts(rows=5))
    assert Shard.from_dict(dataclasses.asdict(shard)) == shard
