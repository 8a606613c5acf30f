"""Which positions of a batch may be chosen, and which belong to texts at all."""

import dataclasses
from collections.abc import Collection
from typing import Self

import numpy as np
import tensorflow as tf

_FEW = 8  # so many comparisons take less time than looking every token up


@dataclasses.dataclass(frozen=True)
class Candidates:
    """What is known of each position of a batch before masks are chosen.

    Args:
        is_real: (batch, seq) bool, False on padding.
        is_text: (batch, seq) bool, False on padding and on tokens that stand around texts.
        is_selectable: (batch, seq) bool, the tokens of texts that may be chosen.
    """

    is_real: tf.Tensor
    is_text: tf.Tensor
    is_selectable: tf.Tensor

    @classmethod
    def of_batch(
        cls,
        token_ids: tf.Tensor,
        padding_mask: tf.Tensor,
        around_ids: Collection[int],
        unselectable_ids: Collection[int],
    ) -> Self:
        """Tell the tokens of a batch apart.

        Args:
            token_ids: (batch, seq) int32.
            padding_mask: (batch, seq) int32.
            around_ids: ids that stand around texts, as [CLS] and [SEP].
            unselectable_ids: ids that may not be chosen.
        """
        is_real = padding_mask > 0
        is_text = is_real & ~is_one_of(token_ids, around_ids)
        others = set(unselectable_ids) - set(around_ids)
        return cls(is_real, is_text, is_text & ~is_one_of(token_ids, others))


def is_one_of(token_ids: tf.Tensor, ids: Collection[int]) -> tf.Tensor:
    """Return where a token has one of some ids: bool, in the shape of `token_ids`."""
    if not ids:
        return tf.zeros_like(token_ids, tf.bool)
    if len(ids) <= _FEW:
        first, *others = (token_ids == number for number in sorted(ids))
        for other in others:
            first |= other
        return first
    table = np.zeros(max(ids) + 1, bool)
    table[list(ids)] = True
    return (token_ids < len(table)) & tf.gather(table, tf.minimum(token_ids, len(table) - 1))
