"""Rows of raw text, made while they are trained on."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.data.document_blocks import ShardSource, document_blocks, shard_sources
from kerazoo.data.manifest import TokenizerDescription, row_format
from kerazoo.data.plain_text import corpus_files, read_documents
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_records import RowRecords
from kerazoo.data.row_source import GROUP_ROWS, held_out_counts
from kerazoo.data.source_lines import STANDARD_INPUT


class TextRows:
    """A `RowSource` of raw texts: the rows that `prepare` would write, without writing them.

    The corpus is read once to count, and again in every epoch, group by group in its own order. So
    it may be of any size; but a corpus that is read often is better prepared.

    Args:
        corpus: files and folders; see `kerazoo.data.plain_text.read_documents`.
        tokenizer: a kerazoo tokenizer.
        settings: what rows to make, without static masks.
        held_out_fraction: float, share of the rows to hold out, the last ones of each block of
            documents.
        held_out_limit: int, the most rows to hold out.
        group_rows: int, about so many rows are in a group.
        on_block: called for each block that is counted.

    Raises:
        FileNotFoundError: if there is no such corpus.
        ValueError: if it is standard input, a text cannot be read, there is none (or a single
            document for "bert"), or no rows can be held out.
    """

    def __init__(
        self,
        corpus: Sequence[str],
        tokenizer: Any,
        settings: PrepareSettings,
        held_out_fraction: float = 0.0,
        held_out_limit: int = GROUP_ROWS,
        group_rows: int = GROUP_ROWS,
        on_block: Callable[[], None] = lambda: None,
    ) -> None:
        """Count the rows, which reads the texts once."""
        self._files = corpus_files(corpus)
        if STANDARD_INPUT in self._files:
            raise ValueError(
                "Texts are read again in every epoch, and standard input can be read only once. "
                "Write it to a file, or prepare it. Received: data='-'"
            )
        self.row_format = row_format(settings, TokenizerDescription.of(tokenizer))
        self._settings = settings
        self._records = RowRecords(tokenizer, settings)
        self._blocks_a_group = 1
        counts, self.fingerprint = self._counted(on_block)
        rows = [count for count, _ in counts]
        total = sum(rows)
        held_out = held_out_counts(rows, held_out_fraction, held_out_limit)
        self.held_out_rows = sum(held_out)
        self.training_rows = total - self.held_out_rows
        self.mean_tokens = sum(tokens for _, tokens in counts) / total
        self._kept = [count - out for count, out in zip(rows, held_out, strict=True)]
        self._blocks_a_group = max(1, group_rows * len(rows) // total)

    def group_sizes(self, epoch: int) -> list[int]:
        """Return the rows of each group, which are the same in every epoch."""
        size = self._blocks_a_group
        return [sum(self._kept[start : start + size]) for start in range(0, len(self._kept), size)]

    def groups(self, first: int) -> tf.data.Dataset:
        """Return the endless groups from number `first` on; see `RowSource`."""
        count = len(self.group_sizes(0))

        def endless() -> Iterator[tuple[int, np.ndarray]]:
            number = first
            while True:
                for source in islice(self._sources(), number % count, None):
                    records = [r for block in self._rows(source) for r in block[0]]
                    if records:
                        yield number, np.array(records, object)
                    number += 1

        signature = (tf.TensorSpec((), tf.int64), tf.TensorSpec((None,), tf.string))
        return tf.data.Dataset.from_generator(endless, output_signature=signature)

    def held_out(self) -> tf.data.Dataset:
        """Return the rows for validation, () string, in the order of the texts."""
        records = [
            record
            for source in self._sources()
            for _, held_out in self._rows(source)
            for record in held_out
        ]
        return tf.data.Dataset.from_tensor_slices(np.array(records, object))

    def place(self, group: int, row: int) -> tuple[str, int]:
        """Return the documents of a row and its number in them, from 0; see `RowSource`."""
        block = group % len(self.group_sizes(0)) * self._blocks_a_group
        while row >= self._kept[block]:
            row -= self._kept[block]
            block += 1
        size = self._settings.documents_per_block
        return f"documents {block * size} to {(block + 1) * size - 1} of the texts", row

    def _sources(self) -> Iterator[ShardSource]:
        """Yield the groups of blocks while the texts are read."""
        documents = read_documents(self._files)
        blocks = document_blocks(documents, self._settings.documents_per_block)
        return shard_sources(blocks, self._blocks_a_group)

    def _rows(self, source: ShardSource) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Yield the records to train on and those held out of each block of a group."""
        for number, block in enumerate(source.blocks, start=source.first_block):
            records, _ = self._records.of_block(block, number)
            yield records[: self._kept[number]], records[self._kept[number] :]

    def _counted(self, on_block: Callable[[], None]) -> tuple[list[tuple[int, int]], str]:
        """Return rows and tokens of each block, and the checksum of all texts."""
        counts = []
        fingerprint = hashlib.sha256(repr(self._settings).encode("utf-8"))
        for source in self._sources():
            fingerprint.update(source.sha256.encode("utf-8"))
            _, found = self._records.of_block(source.blocks[0], source.first_block)
            counts.append((found.rows, found.tokens))
            on_block()
        if not sum(rows for rows, _ in counts):
            raise ValueError(
                "The texts give no row: the tokenizer finds no token in them. "
                f"Received: data={self._files!r}"
            )
        return counts, fingerprint.hexdigest()
