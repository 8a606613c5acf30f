"""Read the shards that `kerazoo prepare` wrote, as a `tf.data` pipeline."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from kerazoo.data.manifest import Manifest, check_vocabulary, read_manifest
from kerazoo.data.shard import Shard

__all__ = ["check_shards", "check_vocabulary", "parse_records", "read_manifest", "read_shards"]

_READ_AT_ONCE = 1 << 20


def read_shards(
    folder: str | Path, shard_names: Sequence[str] | None = None, verify: bool = True
) -> tf.data.Dataset:
    """Return the rows of shards, one record each, in order.

    Args:
        folder: a finished folder of `kerazoo prepare`.
        shard_names: which files to read, and in which order; None reads all.
        verify: bool, compare the files with their checksums first, which reads them once.

    Returns:
        A dataset of () string, to be batched and given to `parse_records`.

    Raises:
        FileNotFoundError: if the folder or a file is missing.
        ValueError: if a file is damaged, or the manifest lists no such file.
    """
    manifest = read_manifest(folder)
    names = manifest.shard_names if shard_names is None else list(shard_names)
    check_shards(folder, manifest, names, verify)
    with tf.device("CPU:0"):
        files = [str(Path(folder) / name) for name in names]
        return tf.data.TFRecordDataset(files, buffer_size=_READ_AT_ONCE)


def parse_records(serialized: tf.Tensor, manifest: Manifest) -> dict[str, Any]:
    """Return a batch of rows, padded to one length; for `dataset.batch(…).map(…)`.

    Args:
        serialized: (batch,) string.
        manifest: from `read_manifest`.

    Returns:
        `token_ids` and `padding_mask`, (batch, seq) int32. For "bert" and "bert-mlm" also
        `segment_ids`, (batch, seq) int32, and `word_starts`, (batch, seq) bool; for "bert"
        `next_sentence_label`, (batch,) int32. For "gpt" seq is `sequence_length + 1`. With static
        masks also `mask_positions` and `mask_ids`, (batch, masks) int32, and `mask_weights`,
        (batch, masks) float32.
    """
    return manifest.row_format.parse(serialized)


def check_shards(
    folder: str | Path,
    manifest: Manifest,
    shard_names: Sequence[str] | None = None,
    checksums: bool = True,
) -> None:
    """Raise an error that names the file unless all shards are there and whole.

    Args:
        folder: where they lie.
        manifest: from `read_manifest`.
        shard_names: which files to look at; None looks at all.
        checksums: bool, compare contents and not only sizes.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if a file is damaged, or the manifest lists no such file.
    """
    shards = {shard.name: shard for shard in manifest.shards}
    for name in shards if shard_names is None else shard_names:
        if name not in shards:
            raise ValueError(
                f"The manifest lists no such shard. Received: {name!r} in folder={str(folder)!r}"
            )
        _check_shard(Path(folder) / name, shards[name], checksums)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_shard(file: Path, shard: Shard, checksums: bool) -> None:
    if not file.is_file():
        raise FileNotFoundError(f"The shard {file} is missing. Prepare the corpus again.")
    size = file.stat().st_size
    damaged = size != shard.bytes
    what = f"it has {size} bytes instead of {shard.bytes}"
    if not damaged and checksums:
        damaged = file_hash(file) != shard.sha256
        what = "its checksum is another one"
    if damaged:
        raise ValueError(
            f"The shard {file} is damaged: {what}. Prepare the corpus again into a new folder."
        )
