import pytest

from kerazoo.data.document_blocks import ShardSource, document_blocks, shard_sources


def documents(count):
    return [[f"document {number}"] for number in range(count)]


@pytest.mark.parametrize(
    ("count", "lengths"),
    [(1, [1]), (3, [3]), (4, [4]), (5, [3, 2]), (7, [3, 4]), (8, [3, 3, 2]), (9, [3, 3, 3])],
)
def test_no_block_has_a_single_document(count, lengths):
    blocks = list(document_blocks(iter(documents(count)), 3))
    assert [len(block) for block in blocks] == lengths
    assert [document for block in blocks for document in block] == documents(count)


def test_blocks_of_one_document_are_left_alone():
    assert [len(block) for block in document_blocks(documents(3), 1)] == [1, 1, 1]


def test_blocks_are_made_while_documents_are_read():
    endless = ([f"{number}"] for number in iter(int, 1))
    assert len(next(document_blocks(endless, 5))) == 5


def test_shards_know_their_blocks():
    sources = list(shard_sources(document_blocks(documents(14), 3), 2))
    assert [(source.name, source.first_block) for source in sources] == [
        ("shard-00000.tfrecord", 0),
        ("shard-00001.tfrecord", 2),
        ("shard-00002.tfrecord", 4),
    ]
    assert [[len(block) for block in source.blocks] for source in sources] == [[3, 3], [3, 3], [2]]


def test_the_checksum_tells_where_documents_and_blocks_end():
    variants = [
        [[["a", "b"]], [["c"]]],
        [[["a"], ["b"]], [["c"]]],
        [[["a", "b"], ["c"]]],
        [[["a", "b"]], [["d"]]],
    ]
    checksums = [ShardSource(0, 0, blocks).sha256 for blocks in variants]
    assert len(set(checksums)) == len(variants)
    assert ShardSource(1, 2, variants[0]).sha256 == checksums[0]
