"""Batches of rows as a pre-training task takes them: masked, with targets and weights."""

import dataclasses
import functools
from collections.abc import Callable, Collection
from typing import Any

import tensorflow as tf

from kerazoo.axes import (
    MASK_IDS,
    MASK_WEIGHTS,
    MASKED_LM,
    NEXT_SENTENCE,
    NEXT_SENTENCE_LABEL,
    PADDING_MASK,
    SEGMENT_IDS,
    TOKEN_IDS,
    WORD_STARTS,
)
from kerazoo.data.data_service import DataService
from kerazoo.data.objectives import BERT, GPT
from kerazoo.data.row_format import RowFormat
from kerazoo.data.row_source import RowSource
from kerazoo.data.shuffled_rows import Buckets, shuffled_batches
from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.masker import Masker
from kerazoo.preprocessing.masking.seeds import batch_seeds
from kerazoo.without_autograph import without_autograph

VALIDATION_SEED = 0
"""Of the masks of evaluations, so that runs of any seed are measured on the same ones."""

Batch = tuple[Any, Any, Any]
"""Features, targets and weights, each a tensor or a dict of them."""


@dataclasses.dataclass(frozen=True)
class PretrainInputs:
    """Turns records into features, targets and weights.

    Args:
        row_format: how a row lies in its record.
        input_names: the features that the model takes.
        masker: draws the masks; None for causal models, and for rows with static masks.
        bucket_width: int, make batches of rows of similar length, and cut off the padding behind
            a multiple of so many tokens; None mixes all lengths and keeps all padding.
    """

    row_format: RowFormat
    input_names: Collection[str]
    masker: Masker | None
    bucket_width: int | None = None

    def batch(
        self, records: tf.Tensor, mask_seed: tf.Tensor, own: tuple[int, int] | None = None
    ) -> Batch:
        """Return a batch of `objective` "gpt", "bert-mlm" or "bert".

        Args:
            records: (batch,) string.
            mask_seed: (2,) int32.
            own: the first row that is wanted and the one behind the last, which alone are decoded
                and masked, as in the whole batch; None is all rows.

        Returns:
            For "gpt" the next tokens as targets, (batch, seq) int32, with weight 0 on padding. Else
            the masked ids, (batch, masks) int32, with weight 0 on unused slots; for "bert" dicts
            of those and of the next-sentence labels, (batch,) int32.
        """
        width, part = self._width(records), WHOLE
        if own is not None:
            part = BatchPart(own[0], records.shape[0])
            records = records[own[0] : own[1]]
        rows = _cut(self.row_format.parse(records), width)
        if self.row_format.objective == GPT:
            return self._next_tokens(rows)
        if self.masker is None:
            targets, weights = rows[MASK_IDS], rows[MASK_WEIGHTS]
        else:
            rows, targets, weights = self.masker.mask(rows, rows[WORD_STARTS], mask_seed, part)
        features = {name: rows[name] for name in self.input_names}
        if self.row_format.objective == BERT:
            labels = rows[NEXT_SENTENCE_LABEL]
            targets = {MASKED_LM: targets, NEXT_SENTENCE: labels}
            weights = {MASKED_LM: weights, NEXT_SENTENCE: tf.ones_like(labels, tf.float32)}
        return features, targets, weights

    @without_autograph
    def training_dataset(
        self,
        source: RowSource,
        batch_size: int,
        seed: int,
        first_batch: int = 0,
        service: DataService | None = None,
        own: tuple[int, int] | None = None,
    ) -> tf.data.Dataset:
        """Return endless batches, of which each is decided by the seed and its number alone.

        Args:
            source: the rows.
            batch_size: int, rows of a batch.
            seed: int, decides about order and masks.
            first_batch: int, the number of the first batch.
            service: prepares the batches; None prepares them here.
            own: see `batch`.
        """
        batch = functools.partial(self.batch, own=own)
        with tf.device("CPU:0"):
            records = shuffled_batches(source, batch_size, seed, first_batch, self.buckets)
            seeds = batch_seeds(seed, training=False, first_batch=first_batch)
            pairs = tf.data.Dataset.zip(records, seeds)
            if service is not None:
                return service.batches(pairs, batch, first_batch)
            return _prepared(pairs, batch)

    @without_autograph
    def validation_dataset(self, source: RowSource, batch_size: int) -> tf.data.Dataset:
        """Return the rows held out, in order, with the same masks every time.

        Args:
            source: the rows.
            batch_size: int, rows of a batch; the last one may be smaller.
        """
        with tf.device("CPU:0"):
            records = source.held_out().batch(batch_size)
            pairs = tf.data.Dataset.zip(records, batch_seeds(VALIDATION_SEED, training=False))
            batches = _prepared(pairs, self.batch)
            # At the end of a dataset of unknown length Keras runs a step without data, which counts
            # in some of its means.
            count = -(-source.held_out_rows // batch_size)
            return batches.apply(tf.data.experimental.assert_cardinality(count))

    @property
    def buckets(self) -> Buckets | None:
        """What gives the buckets of records; None if all lengths are mixed."""
        if self.bucket_width is None:
            return None
        width, more = self.bucket_width, self._last_target
        return lambda records: -(-(self.row_format.token_counts(records) - more) // width)

    @property
    def _last_target(self) -> int:
        """How many tokens of a row are no input but the last target alone."""
        return int(self.row_format.objective == GPT)

    def _width(self, records: tf.Tensor) -> tf.Tensor | None:
        """Return the columns in which a row of the batch can have a token; None is all."""
        if self.bucket_width is None:
            return None
        longest = tf.reduce_max(self.row_format.token_counts(records)) - self._last_target
        return -(-longest // self.bucket_width) * self.bucket_width + self._last_target

    def _next_tokens(self, rows: dict[str, Any]) -> Batch:
        numbers = rows[PADDING_MASK]
        features = {name: rows[name][:, :-1] for name in self.input_names}
        # The first token of a text is no target of the text before it.
        is_target = (numbers[:, 1:] > 0) & (numbers[:, 1:] == numbers[:, :-1])
        return features, rows[TOKEN_IDS][:, 1:], tf.cast(is_target, tf.float32)


def _prepared(pairs: tf.data.Dataset, batch: Callable[..., Batch]) -> tf.data.Dataset:
    """Return the batches of records and seeds, made before they are asked for."""
    return pairs.map(batch, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _cut(rows: dict[str, Any], width: tf.Tensor | None) -> dict[str, Any]:
    """Return rows without the columns from `width` on."""
    if width is None:
        return rows
    columns = (TOKEN_IDS, SEGMENT_IDS, PADDING_MASK, WORD_STARTS)
    return {key: rows[key][:, :width] if key in columns else rows[key] for key in rows}
