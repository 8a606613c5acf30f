"""The rows of shards that `kerazoo prepare` wrote, group by group."""

import hashlib
import os
from pathlib import Path

import tensorflow as tf

from kerazoo.data.manifest import Manifest
from kerazoo.data.records import check_shards
from kerazoo.data.row_source import GROUP_ROWS, held_out_counts

_ENDLESS = 2**63 - 1


class ShardRows:
    """A `RowSource` of shards; the shards of a group are others in every epoch.

    Args:
        folder: a finished folder of `kerazoo prepare`.
        manifest: what it holds.
        held_out_fraction: float, share of the rows to hold out, the last ones of each shard.
        held_out_limit: int, the most rows to hold out.
        seed: int, decides about the order of the shards.
        group_rows: int, about so many rows are in a group.

    Raises:
        FileNotFoundError: if a shard is missing.
        ValueError: if a shard is damaged, or no rows can be held out.
    """

    def __init__(
        self,
        folder: str | Path,
        manifest: Manifest,
        held_out_fraction: float = 0.0,
        held_out_limit: int = GROUP_ROWS,
        seed: int = 0,
        group_rows: int = GROUP_ROWS,
    ) -> None:
        """Check the shards, which reads them once."""
        check_shards(folder, manifest)
        rows = [shard.counts.rows for shard in manifest.shards]
        held_out = held_out_counts(rows, held_out_fraction, held_out_limit)
        self.row_format = manifest.row_format
        self.held_out_rows = sum(held_out)
        self.training_rows = sum(rows) - self.held_out_rows
        self.mean_tokens = manifest.counts.tokens / sum(rows)
        self.fingerprint = hashlib.sha256(manifest.as_json().encode("utf-8")).hexdigest()
        self._files = [str(Path(folder) / name) for name in manifest.shard_names]
        self._kept = [count - out for count, out in zip(rows, held_out, strict=True)]
        self._seed = seed
        self._shards_a_group = max(1, group_rows * len(rows) // sum(rows))

    def group_sizes(self, epoch: int) -> list[int]:
        """Return the rows of each group of an epoch, in order."""
        order = self._order(tf.constant(epoch, tf.int64)).numpy().tolist()
        starts = range(0, len(order), self._shards_a_group)
        groups = [order[start : start + self._shards_a_group] for start in starts]
        return [sum(self._kept[shard] for shard in group) for group in groups]

    def groups(self, first: int) -> tf.data.Dataset:
        """Return the endless groups from number `first` on; see `RowSource`."""
        # Whole paths, as another process may read them.
        files = tf.constant([os.path.abspath(file) for file in self._files])
        kept = tf.constant(self._kept, tf.int64)
        count = -(-len(self._files) // self._shards_a_group)

        def group(number: tf.Tensor) -> tf.data.Dataset:
            start = number % count * self._shards_a_group
            shards = self._order(number // count)[start : start + self._shards_a_group]
            rows = tf.data.Dataset.from_tensor_slices(shards).flat_map(
                lambda shard: tf.data.TFRecordDataset(files[shard]).take(kept[shard])
            )
            return rows.batch(sum(self._kept)).map(lambda records: (number, records))

        return tf.data.Dataset.range(first, _ENDLESS).flat_map(group)

    def held_out(self) -> tf.data.Dataset:
        """Return the rows for validation, () string, in the order of the shards."""
        kept = tf.constant(self._kept, tf.int64)
        pairs = tf.data.Dataset.from_tensor_slices((self._files, kept))
        return pairs.flat_map(lambda file, kept: tf.data.TFRecordDataset(file).skip(kept))

    def place(self, group: int, row: int) -> tuple[str, int]:
        """Return the shard of a row and its number there, from 0; see `RowSource`."""
        count = -(-len(self._files) // self._shards_a_group)
        epoch, number = divmod(group, count)
        order = self._order(tf.constant(epoch, tf.int64)).numpy().tolist()
        shards = iter(order[number * self._shards_a_group :])
        shard = next(shards)
        while row >= self._kept[shard]:
            row -= self._kept[shard]
            shard = next(shards)
        return self._files[shard], row

    def _order(self, epoch: tf.Tensor) -> tf.Tensor:
        """Return the order of the shards in an epoch, (shards,) int32."""
        shards = tf.range(len(self._files))
        return tf.random.experimental.stateless_shuffle(shards, [self._seed, epoch])
