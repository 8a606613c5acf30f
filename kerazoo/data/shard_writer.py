"""Write one shard so that it is whole or not there, and find one that an earlier run wrote."""

import dataclasses
import json
import os
from pathlib import Path

import tensorflow as tf

from kerazoo.conversion.json_file import read_json_object
from kerazoo.data.document_blocks import ShardSource
from kerazoo.data.manifest import UNFINISHED_FOLDER
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import file_hash
from kerazoo.data.row_records import RowRecords
from kerazoo.data.shard import Counts, Shard
from kerazoo.tokenizers.base import Tokenizer


class ShardWriter:
    """Writes shards of a folder, in one process.

    Args:
        folder: an `UnfinishedFolder`'s path, which holds the tokenizer.
        settings: see `PrepareSettings`.
    """

    def __init__(self, folder: str | Path, settings: PrepareSettings) -> None:
        """Read the tokenizer and load the segmenter."""
        # Registered with Keras, so that the folder's is found.
        from kerazoo.tokenizers import byte_bpe, gpt_bpe, wordpiece  # noqa: F401

        self._folder = Path(folder)
        self._records = RowRecords(Tokenizer.from_preset(folder), settings)

    def write(self, source: ShardSource) -> Shard:
        """Write the rows of a shard and return what it holds.

        Raises:
            OSError: if the disk is full or may not be written to.
        """
        unfinished = self._folder / UNFINISHED_FOLDER
        temporary = unfinished / f"{source.name}.{os.getpid()}"
        try:
            counts = self._write_records(source, temporary)
            with open(temporary, "rb") as stream:
                os.fsync(stream.fileno())
            size, checksum = temporary.stat().st_size, file_hash(temporary)
            shard = Shard(source.name, size, checksum, source.sha256, counts)
            os.replace(temporary, self._folder / source.name)
            # Last, as a shard counts as finished when this file is there.
            write_whole(unfinished / f"{source.name}.json", _as_json(shard))
        except tf.errors.OpError as error:
            raise OSError(f"{self._folder / source.name}: {error.message}") from error
        finally:
            temporary.unlink(missing_ok=True)
        return shard

    def _write_records(self, source: ShardSource, file: Path) -> Counts:
        total = Counts()
        with tf.device("CPU:0"), tf.io.TFRecordWriter(str(file)) as writer:
            for number, block in enumerate(source.blocks, start=source.first_block):
                records, counts = self._records.of_block(block, number)
                for record in records:
                    writer.write(record)
                total += counts
        return total


def finished_shard(folder: str | Path, source: ShardSource) -> Shard | None:
    """Return the shard that an earlier run wrote; None if it has to be written (again).

    Raises:
        ValueError: if it was made of other texts.
    """
    shard = read_shard(folder, source.number)
    if shard is None:
        return None
    if shard.source_sha256 != source.sha256:
        raise corpus_changed(folder)
    file = Path(folder) / shard.name
    if not file.is_file() or file.stat().st_size != shard.bytes:
        return None
    return shard if file_hash(file) == shard.sha256 else None


def read_shard(folder: str | Path, number: int) -> Shard | None:
    """Return the description of a finished shard; None if there is none."""
    name = ShardSource(number, 0, []).name
    file = Path(folder) / UNFINISHED_FOLDER / f"{name}.json"
    return Shard.from_dict(read_json_object(file)) if file.is_file() else None


def corpus_changed(folder: str | Path) -> ValueError:
    """Return the error for a corpus that is not the one of which earlier shards were made."""
    return ValueError(
        "The corpus has changed since the unfinished run in this folder. Remove the folder, or "
        f"choose another output. Received: output={str(folder)!r}"
    )


def write_whole(file: Path, content: str) -> None:
    """Write a file that is there with all of its content or not at all."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        with open(temporary, "w", encoding="utf-8") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def _as_json(shard: Shard) -> str:
    return json.dumps(dataclasses.asdict(shard))
