"""Documents in blocks of a fixed number, and blocks in shards: the units of work."""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from kerazoo.data.plain_text import Document

Block = list[Document]


@dataclasses.dataclass(frozen=True)
class ShardSource:
    """The documents of one shard.

    Args:
        number: int, the shard's number from 0.
        first_block: int, the number of its first block in the corpus, from 0.
        blocks: the documents, block by block.
    """

    number: int
    first_block: int
    blocks: list[Block]

    @property
    def name(self) -> str:
        """The shard's file."""
        return f"shard-{self.number:05d}.tfrecord"

    @property
    def sha256(self) -> str:
        """The checksum of the texts, which tells whether the corpus is still the same."""
        hashed = hashlib.sha256()
        for block in self.blocks:
            for document in block:
                # Half a surrogate pair cannot come from a file that was decoded.
                hashed.update("\n".join([*document, "\n"]).encode("utf-8"))
            hashed.update(b"\0")
        return hashed.hexdigest()


def document_blocks(documents: Iterable[Document], size: int) -> Iterator[Block]:
    """Yield blocks of `size` documents; a single document that is left joins the last block.

    So no block has one document only, in which no second text of a pair could be found, unless the
    corpus has only one.

    Args:
        documents: in order.
        size: int, documents of a block.
    """
    remaining = iter(documents)
    held: Block = []
    while block := list(islice(remaining, size)):
        if held and len(block) == 1 < size:
            held += block
            continue
        if held:
            yield held
        held = block
    if held:
        yield held


def shard_sources(blocks: Iterable[Block], blocks_per_shard: int) -> Iterator[ShardSource]:
    """Yield what each shard is made of, in order."""
    remaining = iter(blocks)
    number = 0
    while chosen := list(islice(remaining, blocks_per_shard)):
        yield ShardSource(number, number * blocks_per_shard, chosen)
        number += 1
