"""Masks that are drawn once, when rows are prepared."""

from random import Random
from typing import Any

import numpy as np

from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.preprocessing.masking.masker import Masker
from kerazoo.preprocessing.masking.reference import (
    create_masked_lm_predictions,
    word_candidates,
)
from kerazoo.preprocessing.masking.selection_count import selection_count


class StaticMasks:
    """Masks rows one by one.

    Args:
        tokenizer: a tokenizer with a mask token.
        settings: how much to mask and where.
    """

    def __init__(self, tokenizer: Any, settings: PrepareSettings) -> None:
        """Look at the vocabulary."""
        masker = Masker.from_tokenizer(tokenizer, mask_selection_length=settings.mask_slots)
        self._settings = settings
        self._mask_token_id = masker.mask_token_id
        self._drawn_ids = masker.drawn_ids
        self._around = list(masker.template_token_ids)
        self._never = list(masker.special_token_ids)

    def mask(
        self, ids: np.ndarray, word_starts: np.ndarray, random: Random
    ) -> tuple[np.ndarray, list[int], list[int]]:
        """Return the masked ids, the positions of the masks and the ids that stood there.

        Args:
            ids: (tokens,) ints, special tokens included, without padding.
            word_starts: (tokens,) bool.
            random: where all that is drawn comes from.
        """
        settings = self._settings
        is_selectable = np.isin(ids, self._never, invert=True)
        if settings.masking == "token":
            words = [[int(position)] for position in np.flatnonzero(is_selectable)]
        else:
            words = word_candidates(
                word_starts.tolist(), np.isin(ids, self._around).tolist(), is_selectable.tolist()
            )
        slots = settings.mask_slots
        new_ids, positions, mask_ids = create_masked_lm_predictions(
            ids.tolist(),
            words,
            random,
            masking=settings.masking,
            count=selection_count(len(ids), settings.mask_selection_rate, slots),
            limit=slots,
            mask_token_id=self._mask_token_id,
            drawn_ids=self._drawn_ids,
        )
        return np.array(new_ids), positions, mask_ids
