"""Which positions of a batch may be chosen, and which belong to texts at all."""

import dataclasses
from collections.abc import Collection
from typing import Self

import numpy as np
import tensorflow as tf

_AROUND, _UNSELECTABLE, _SELECTABLE = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Candidates:
    """What is known of each position of a batch before masks are chosen.

    Args:
        is_real: (batch, seq) bool, False on padding.
        is_text: (batch, seq) bool, False on padding and on tokens that stand around texts.
        is_selectable: (batch, seq) bool, the tokens that may be chosen.
    """

    is_real: tf.Tensor
    is_text: tf.Tensor
    is_selectable: tf.Tensor

    @classmethod
    def of_batch(cls, token_ids: tf.Tensor, padding_mask: tf.Tensor, kinds: np.ndarray) -> Self:
        """Look up the kind of each token.

        Args:
            token_ids: (batch, seq) int32.
            padding_mask: (batch, seq) int32.
            kinds: what `token_kinds` returns.
        """
        is_real = padding_mask > 0
        kind = tf.gather(tf.constant(kinds), token_ids)
        return cls(is_real, is_real & (kind > _AROUND), is_real & (kind > _UNSELECTABLE))


def token_kinds(
    vocabulary_size: int, around_ids: Collection[int], unselectable_ids: Collection[int]
) -> np.ndarray:
    """Return what each id is: around texts, unselectable, or selectable.

    Args:
        vocabulary_size: int.
        around_ids: the ids that stand around texts, as [CLS] and [SEP].
        unselectable_ids: other ids that are never chosen.

    Returns:
        (vocabulary_size,) int8.
    """
    kinds = np.full(vocabulary_size, _SELECTABLE, "int8")
    kinds[list(unselectable_ids)] = _UNSELECTABLE
    kinds[list(around_ids)] = _AROUND
    return kinds
