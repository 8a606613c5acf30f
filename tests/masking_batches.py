"""Random packed batches for the tests of masking, with their words as plain lists."""

import dataclasses

import numpy as np
import tensorflow as tf

from kerazoo.preprocessing.masking.candidates import Candidates
from kerazoo.preprocessing.masking.masker import Masker
from kerazoo.preprocessing.masking.visiting_order import (
    NOT_VISITED,
    _beside,
    _ordered,
    _random_keys,
)
from kerazoo.preprocessing.word_boundaries import Units, word_units

UNKNOWN, CLS, SEP, PAD, MASK = range(5)
VOCABULARY_SIZE = 31
SPECIALS = (UNKNOWN, CLS, SEP, PAD, MASK)
UNUSED = (29, 30)


@dataclasses.dataclass
class Batch:
    """Features, word starts, and for each row the positions of the words that may be masked."""

    features: dict
    word_starts: tf.Tensor
    words: list

    @property
    def lengths(self):
        return self.features["padding_mask"].numpy().sum(axis=1)


def random_batch(rows, width, seed=0, longest_word=4, unknown=0.03) -> Batch:
    """Rows `[CLS] a [SEP] b [SEP]` of any length, the first one without a word, words of pieces."""
    generator = np.random.default_rng(seed)
    ids = np.full((rows, width), PAD)
    starts = np.zeros((rows, width), bool)
    words = [[] for _ in range(rows)]
    for row in range(rows):
        length = 3 if row == 0 else generator.integers(4, width + 1)
        second = length - 1 if row == 0 else generator.integers(1, length - 1)
        ids[row, :length] = generator.integers(5, UNUSED[0], length)
        ids[row, [0, second, length - 1]] = CLS, SEP, SEP
        if row == 0:
            ids[row, 1:3] = SEP
        position = 1
        while position < length - 1:
            if ids[row, position] == SEP:
                position += 1
                continue
            end = position + generator.integers(1, longest_word + 1)
            end = min(end, second if position < second else length - 1)
            starts[row, position] = True
            if generator.random() < unknown:
                ids[row, position] = UNKNOWN
            else:
                words[row].append(list(range(position, end)))
            position = end
    features = {
        "token_ids": tf.constant(ids, tf.int32),
        "segment_ids": tf.zeros([rows, width], tf.int32),
        "padding_mask": tf.constant(ids != PAD, tf.int32),
    }
    return Batch(features, tf.constant(starts), words)


def make_masker(masking="token", slots=6, **options) -> Masker:
    """A masker for these batches."""
    return Masker(
        vocabulary_size=VOCABULARY_SIZE,
        mask_token_id=MASK,
        pad_token_id=PAD,
        mask_selection_length=slots,
        special_token_ids=SPECIALS,
        template_token_ids=(CLS, SEP, PAD),
        undrawable_token_ids=UNUSED,
        masking=masking,
        **options,
    )


def chi_square(counts, expected) -> float:
    """Σ (n − e)² / e over what was counted."""
    counts, expected = np.asarray(counts, "float64"), np.asarray(expected, "float64")
    return float(((counts - expected) ** 2 / expected).sum())


def candidates_of(features) -> Candidates:
    """What is known of each token of these batches."""
    return Candidates.of_batch(
        features["token_ids"], features["padding_mask"], (CLS, SEP, PAD), SPECIALS
    )


def units_of(features, word_starts) -> Units:
    """The words of a batch."""
    return word_units(word_starts, candidates_of(features))


def words_in_order(batch: Batch, seed) -> list:
    """The words of each row that may be masked, in the order in which they are visited."""
    units = units_of(batch.features, batch.word_starts)
    keys = _beside(units, _random_keys(units, seed))
    order = _ordered(units, keys, tf.shape(keys)[1]).numpy()
    first = units.first.numpy() % int(units.width)
    ordered = []
    for visits, words in zip(order, batch.words, strict=True):
        of_first = {word[0]: word for word in words}
        ordered.append([of_first[first[unit]] for unit in visits if unit != NOT_VISITED])
    return ordered
