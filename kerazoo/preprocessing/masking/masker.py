"""Masking of dense batches: where (tokens, words, n-grams), what (80/10/10) and a seed."""

import dataclasses
import functools
import re
from typing import Any, Literal, Self

import tensorflow as tf

from kerazoo.axes import MASK_POSITIONS, PADDING_MASK, TOKEN_IDS
from kerazoo.checks import check_one_of, check_positive
from kerazoo.preprocessing.masking.batch_part import WHOLE, BatchPart
from kerazoo.preprocessing.masking.candidates import Candidates
from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.masking.ngram import NGRAM_WEIGHTS, select_ngrams
from kerazoo.preprocessing.masking.replace import replace_masked
from kerazoo.preprocessing.masking.selection_count import selection_counts
from kerazoo.preprocessing.masking.token import select_tokens
from kerazoo.preprocessing.masking.whole_word import select_whole_words
from kerazoo.preprocessing.word_boundaries import Units, token_units, word_units
from kerazoo.without_autograph import without_autograph

MASKINGS = ("token", "whole_word", "ngram")
NGRAM_UNITS = ("word", "token")
_UNUSED = re.compile(r"\[unused\d+\]|<unused_?\d+>")


@dataclasses.dataclass(frozen=True)
class Masker:
    """Chooses tokens of a dense batch and replaces them, vectorised, with stateless seeds.

    A row gets `min(mask_selection_length, max(1, round(length × mask_selection_rate)))` masks, its
    length counting [CLS] and [SEP] (Devlin et al., 2018, arXiv:1810.04805); whole words and n-grams
    of words may leave some of them, where no word fits. Special tokens and padding are never
    chosen, and neither special tokens nor unused slots of the vocabulary are drawn.

    Args:
        vocabulary_size: int, ids are below it.
        mask_token_id: int, the id of [MASK].
        pad_token_id: int, the id in unused slots of `mask_ids`.
        mask_selection_length: int, slots of a row.
        special_token_ids: ids that are never chosen and never drawn.
        template_token_ids: those of them that stand around texts: no word goes on over them.
        unselectable_token_ids: further ids that are never chosen; a word with one is never chosen.
        undrawable_token_ids: further ids that are never drawn, such as unused slots.
        masking: "token", "whole_word" or "ngram".
        mask_selection_rate: float, the share of tokens to choose.
        mask_token_rate: float, the share of chosen tokens that becomes [MASK].
        random_token_rate: float, the share that becomes a random token; the rest is kept.
        ngram_unit: "word", or "token" for n-grams of pieces.
        ngram_weights: the shares of n-grams of length 1, 2, …, before they are shortened.
        replace_per_word: bool, draw once for all pieces of a word whether they become [MASK], stay
            or are random; the reference draws for each piece.
    """

    vocabulary_size: int
    mask_token_id: int
    pad_token_id: int
    mask_selection_length: int
    special_token_ids: tuple[int, ...] = ()
    template_token_ids: tuple[int, ...] = ()
    unselectable_token_ids: tuple[int, ...] = ()
    undrawable_token_ids: tuple[int, ...] = ()
    masking: Literal["token", "whole_word", "ngram"] = "token"
    mask_selection_rate: float = 0.15
    mask_token_rate: float = 0.8
    random_token_rate: float = 0.1
    ngram_unit: Literal["word", "token"] = "word"
    ngram_weights: tuple[float, ...] = NGRAM_WEIGHTS
    replace_per_word: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        check_one_of("masking", self.masking, MASKINGS)
        check_one_of("ngram_unit", self.ngram_unit, NGRAM_UNITS)
        check_positive("mask_selection_length", self.mask_selection_length)
        check_positive("vocabulary_size", self.vocabulary_size)
        _check_share("mask_selection_rate", self.mask_selection_rate)
        _check_share("mask_token_rate", self.mask_token_rate)
        _check_share("random_token_rate", self.random_token_rate)
        if self.mask_token_rate + self.random_token_rate > 1 + 1e-9:
            raise ValueError(
                "`mask_token_rate` and `random_token_rate` must sum to at most 1. "
                f"Received: mask_token_rate={self.mask_token_rate!r}, "
                f"random_token_rate={self.random_token_rate!r}"
            )
        if min(self.ngram_weights, default=-1) < 0 or abs(sum(self.ngram_weights) - 1) > 1e-6:
            raise ValueError(
                "`ngram_weights` must be shares that sum to 1. "
                f"Received: ngram_weights={self.ngram_weights!r}"
            )

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, **options: Any) -> Self:
        """Return a masker for a tokenizer's ids.

        Args:
            tokenizer: a tokenizer with a mask token and a vocabulary.
            **options: further fields; `mask_selection_length` is needed.

        Raises:
            ValueError: if the tokenizer has no mask token, as those of GPT.
        """
        check_has_mask_token(tokenizer)
        unused = (i for i, entry in enumerate(tokenizer.get_vocabulary()) if is_unused(entry))
        return cls(
            vocabulary_size=tokenizer.vocabulary_size(),
            mask_token_id=tokenizer.mask_token_id,
            pad_token_id=tokenizer.pad_token_id,
            special_token_ids=tuple(tokenizer.special_token_ids),
            template_token_ids=tuple(dict.fromkeys(tokenizer.template_token_ids)),
            **{"undrawable_token_ids": tuple(unused), **options},
        )

    @property
    def needs_words(self) -> bool:
        """Whether `mask` needs `word_starts`."""
        if self.replace_per_word or self.masking == "whole_word":
            return True
        return self.masking == "ngram" and self.ngram_unit == "word"

    @functools.cached_property
    def drawn_ids(self) -> tuple[int, ...]:
        """The ids from which random tokens are drawn.

        Raises:
            ValueError: if there is none, though random tokens are asked for.
        """
        never = {*self.special_token_ids, *self.undrawable_token_ids, self.mask_token_id}
        drawn = tuple(i for i in range(self.vocabulary_size) if i not in never)
        if not drawn and self.random_token_rate > 0:
            raise ValueError(
                "The vocabulary has no entry from which a random token could be drawn: all are "
                "special or unused. Use a real vocabulary, or random_token_rate=0. "
                f"Received: vocabulary_size={self.vocabulary_size}"
            )
        return drawn or (self.mask_token_id,)

    @without_autograph
    def mask(
        self,
        features: dict[str, tf.Tensor],
        word_starts: tf.Tensor | None,
        seed: tf.Tensor,
        part: BatchPart = WHOLE,
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        """Mask a batch, or some of its rows as they would be masked in the whole batch.

        Args:
            features: `token_ids` and `padding_mask`, (batch, seq) int32; others pass through.
            word_starts: (batch, seq) bool, True on the first piece of each word; None if the
                masker does not need it.
            seed: (2,) int32; the same seed gives the same masks.
            part: which rows of a batch these are.

        Returns:
            The features with replaced `token_ids` and with `mask_positions`,
            (batch, mask_selection_length) int32; `mask_ids`, int32; `mask_weights`, float32.
        """
        seeds = tf.unstack(tf.random.split(tf.cast(seed, tf.int32), 2))
        token_ids = features[TOKEN_IDS]
        words = self._words(features, word_starts)
        chosen = self._choose(features, words, seeds[0], part)
        labels = chosen.gather(token_ids)
        rows, slots = chosen.in_rows(token_ids), self.mask_selection_length
        weights = rows.weights(slots)
        places = tf.where(tf.reshape(weights > 0, [-1]))[:, 0]

        def draw(count: int, seed: tf.Tensor, **options: Any) -> tf.Tensor:
            # Numbers for each slot, so that no row has an influence on another one.
            drawn = part.uniform([tf.shape(weights)[0], slots, count], seed, **options)
            return tf.gather(tf.reshape(drawn, [-1, count]), places)

        new_ids = replace_masked(
            labels,
            seeds[1],
            self.mask_token_id,
            self.drawn_ids,
            self.mask_token_rate,
            self.random_token_rate,
            words.first_of_unit(chosen.positions) if words and self.replace_per_word else None,
            draw,
        )
        masked = {
            TOKEN_IDS: chosen.replace(token_ids, new_ids),
            MASK_POSITIONS: rows.in_slots(tf.cast(rows.positions, tf.int32), slots),
        }
        mask_ids = rows.in_slots(labels, slots, unused=self.pad_token_id)
        return {**features, **masked}, mask_ids, weights

    def choose(
        self, features: dict[str, tf.Tensor], word_starts: tf.Tensor | None, seed: tf.Tensor
    ) -> Chosen:
        """Return which tokens `mask` chooses with the same arguments, without replacing them."""
        where = tf.random.split(tf.cast(seed, tf.int32), 2)[0]
        return self._choose(features, self._words(features, word_starts), where, WHOLE)

    def _choose(
        self, features: dict[str, tf.Tensor], words: Any, seed: tf.Tensor, part: BatchPart
    ) -> Chosen:
        lengths = tf.math.count_nonzero(features[PADDING_MASK], axis=1, dtype=tf.int32)
        limit = self.mask_selection_length
        counts = selection_counts(lengths, self.mask_selection_rate, limit)
        if self.masking == "token":
            candidates = self._candidates(features).is_selectable
            return select_tokens(candidates, counts, limit, seed, part)
        if self.masking == "whole_word":
            return select_whole_words(words, counts, limit, seed, part)
        units = words if self.ngram_unit == "word" else token_units(self._candidates(features))
        return select_ngrams(units, counts, limit, seed, self.ngram_weights, part)

    def _words(self, features: dict[str, tf.Tensor], word_starts: tf.Tensor | None) -> Units | None:
        if not self.needs_words:
            return None
        if word_starts is None:
            raise ValueError(
                "This masking needs to know where words start; `tokenize_with_word_starts` of a "
                f"WordPieceTokenizer says it. Received: word_starts=None, masking={self.masking!r}"
            )
        return word_units(word_starts, self._candidates(features))

    def _candidates(self, features: dict[str, tf.Tensor]) -> Candidates:
        return Candidates.of_batch(
            features[TOKEN_IDS],
            features[PADDING_MASK],
            self.template_token_ids,
            {*self.special_token_ids, *self.unselectable_token_ids},
        )


def check_has_mask_token(tokenizer: Any) -> None:
    """Raise ValueError if a tokenizer has no mask token, as those of GPT."""
    if getattr(tokenizer, "mask_token", None) is None:
        raise ValueError(
            "Masking needs a tokenizer with a mask token whose pieces say where words start, as "
            "WordPieceTokenizer; byte-level and GPT vocabularies have none, as GPT is trained to "
            "say the next token instead. "
            f"Received: tokenizer={type(tokenizer).__name__}"
        )


def is_unused(entry: str) -> bool:
    """Return whether a vocabulary entry is a slot without a meaning, like "[unused7]"."""
    return _UNUSED.fullmatch(entry) is not None


def _check_share(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be a number from 0 to 1. Received: {name}={value!r}")
