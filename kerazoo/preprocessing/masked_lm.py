"""Raw texts (or pairs) to masked batches for a `MaskedLM`."""

from collections.abc import Sequence
from typing import Any, Literal

import keras
import tensorflow as tf

from kerazoo.axes import MASK_POSITIONS, TOKEN_IDS
from kerazoo.checks import check_positive
from kerazoo.preprocessing.base import Preprocessor, texts_of
from kerazoo.preprocessing.flagged_ids import with_flags, without_flags
from kerazoo.preprocessing.masking.chosen import Chosen
from kerazoo.preprocessing.masking.masker import Masker, check_has_mask_token
from kerazoo.preprocessing.masking.seeds import batch_seeds, seed_of_texts, to_seed
from kerazoo.preprocessing.masking.selection_count import selection_count, selection_counts
from kerazoo.preprocessing.packing import pack
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.without_autograph import without_autograph


@keras.saving.register_keras_serializable(package="kerazoo")
class MaskedLMPreprocessor(Preprocessor):
    """Tokenise, pack and mask texts; see `Masker` for what is chosen and what replaces it.

    Which masks a batch gets is decided by a seed. `masked_dataset` gives each batch one: new masks
    in every epoch for training, the same ones for evaluation. A plain call takes `mask_seed`; the
    masks of a call without it depend on `seed` and the texts, so that they stay as they are, or,
    if `seed` is None, are new each time. Whatever follows a `cache()` is computed anew in every
    epoch, whatever comes before it once: mask after it, not before.

    Args:
        tokenizer: a tokenizer with a mask token: a `WordPieceTokenizer`.
        sequence_length: int, the most positions of a row; longer texts are truncated, of a pair
            always the longer one.
        masking: "token", "whole_word" (all pieces of a word or none) or "ngram" (runs of words).
        segmented: bool, whether spaces set all words of the texts apart, as a segmenter for
            Chinese writes them; else each Han character is a word.
        mask_selection_rate: float, the share of a row's tokens to choose.
        mask_selection_length: int, slots of a row; None for as many as a row of this width needs
            ("whole_word" and "ngram": a row of `sequence_length`).
        mask_token_rate: float, the share of chosen tokens that becomes [MASK].
        random_token_rate: float, the share that becomes a random token; the rest is kept.
        unselectable_token_ids: ids that are never chosen, beside the special tokens'.
        ngram_unit: "word", or "token" for n-grams of pieces.
        replace_per_word: bool, draw once for all pieces of a word what becomes of them.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        seed: int, decides about the masks of a call without `mask_seed`; None for other masks in
            each call.
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: (batch,) string, or a pair as tuple `(a, b)` or dict `{"text": a, "text_pair": b}`.
        sample_weight: (batch,) float, optional; multiplies the weights of a row's masks.
        mask_seed: an int or two, which decide about the masks; optional.

    Returns:
        A tuple of the features (a dict of `token_ids`, `segment_ids` and `padding_mask`,
        (batch, seq) int32, and `mask_positions`, (batch, masks) int32), `mask_ids`, (batch, masks)
        int32, and `mask_weights`, (batch, masks) float32: inputs, targets and weights.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 512,
        masking: Literal["token", "whole_word", "ngram"] = "token",
        segmented: bool = False,
        mask_selection_rate: float = 0.15,
        mask_selection_length: int | None = None,
        mask_token_rate: float = 0.8,
        random_token_rate: float = 0.1,
        unselectable_token_ids: Sequence[int] = (),
        ngram_unit: Literal["word", "token"] = "word",
        replace_per_word: bool = False,
        pad_to_multiple_of: int | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        check_positive("sequence_length", sequence_length)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.pad_to_multiple_of = pad_to_multiple_of
        self.segmented = segmented
        self.seed = seed
        self._masking_options: dict[str, Any] = {
            "masking": masking,
            "mask_selection_rate": mask_selection_rate,
            "mask_selection_length": mask_selection_length,
            "mask_token_rate": mask_token_rate,
            "random_token_rate": random_token_rate,
            "unselectable_token_ids": tuple(unselectable_token_ids),
            "ngram_unit": ngram_unit,
            "replace_per_word": replace_per_word,
        }
        check_has_mask_token(tokenizer)
        # The vocabulary may come later, but wrong options are told at once.
        without_ids = {**self._options_of_masker(), "unselectable_token_ids": ()}
        Masker(vocabulary_size=1, mask_token_id=0, pad_token_id=0, **without_ids)
        self._masker: Masker | None = None

    @property
    def masker(self) -> Masker:
        """What masks the packed batches; the tokenizer must have its vocabulary."""
        options = self._options_of_masker()
        slots = options["mask_selection_length"]
        if self._masker is None or self._masker.mask_selection_length != slots:
            self._masker = Masker.from_tokenizer(self.tokenizer, **options)
        return self._masker

    def _options_of_masker(self) -> dict[str, Any]:
        """Return the masker's options, with as many slots as the rows need today."""
        options = dict(self._masking_options)
        if options["mask_selection_length"] is None:
            length, rate = self.sequence_length, options["mask_selection_rate"]
            options["mask_selection_length"] = selection_count(length, rate, length)
        return options

    def call(self, x: Any, y: Any = None, sample_weight: Any = None, mask_seed: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        return self.run_on_cpu(self.preprocess, x, y, sample_weight, mask_seed)

    def preprocess(
        self, x: Any, y: Any = None, sample_weight: Any = None, mask_seed: Any = None
    ) -> Any:
        """Preprocess a batch; see the class."""
        if y is not None:
            raise ValueError(
                "A masked language model learns from texts alone; what was masked is its target. "
                "Pass no `y`. Received: labels beside the texts"
            )
        texts = texts_of(x)
        features, word_starts = self.pack_texts(texts)
        seed = seed_of_texts(texts, self.seed) if mask_seed is None else to_seed(mask_seed)
        features, mask_ids, mask_weights = self._masked(features, word_starts, seed)
        if sample_weight is not None:
            row_weights = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
            mask_weights = mask_weights * row_weights[:, tf.newaxis]
        return features, mask_ids, mask_weights

    def _masked(
        self, features: dict[str, tf.Tensor], word_starts: tf.Tensor | None, seed: tf.Tensor
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        """Return what the masker does, without the slots that no row of this width can need."""
        features, *masks = self.masker.mask(features, word_starts, seed)
        options = self._masking_options
        is_counted = options["masking"] == "token" and options["mask_selection_length"] is None
        if self.pad_to_multiple_of is not None and is_counted:
            width, most = tf.shape(features[TOKEN_IDS])[1], self.masker.mask_selection_length
            slots = selection_counts(width, options["mask_selection_rate"], most)
            features = {**features, MASK_POSITIONS: features[MASK_POSITIONS][:, :slots]}
            masks = [values[:, :slots] for values in masks]
        return features, masks[0], masks[1]

    def pack_texts(
        self, texts: Sequence[tf.Tensor]
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor | None]:
        """Return packed features, not masked yet, and word starts if the masking needs them.

        Args:
            texts: one or two tensors, (batch,) string.

        Returns:
            A dict of `token_ids`, `segment_ids` and `padding_mask`, (batch, seq) int32, and
            (batch, seq) bool or None.
        """
        if not self.masker.needs_words:
            return self._pack([self.tokenizer.tokenize(part) for part in texts]), None
        parts = [
            self.tokenizer.tokenize_with_word_starts(part, segmented=self.segmented)
            for part in texts
        ]
        features = self._pack([with_flags(ids, starts) for ids, starts in parts])
        token_ids, word_starts = without_flags(features[TOKEN_IDS])
        return {**features, TOKEN_IDS: token_ids}, word_starts

    @without_autograph
    def masked_dataset(
        self,
        dataset: tf.data.Dataset,
        seed: int = 0,
        training: bool = True,
        first_batch: int = 0,
        num_parallel_calls: int | None = tf.data.AUTOTUNE,
    ) -> tf.data.Dataset:
        """Preprocess a dataset of batches of texts, each batch with a seed of its own.

        Args:
            dataset: of batches as the call takes them; batch first, as whole batches are far
                cheaper to tokenise than single texts.
            seed: int, decides about all masks.
            training: bool, give new masks each time the dataset is iterated, that is in every
                epoch; else the same ones every time, as evaluation needs them.
            first_batch: int, the number of the first batch. For a run that can go on where it was
                stopped, repeat the dataset, take `training=False` (each of the endless batches
                still has its own seed) and give the number of batches that were seen.
            num_parallel_calls: int, batches that are preprocessed at once.
        """
        seeds = batch_seeds(seed, training, first_batch)
        return tf.data.Dataset.zip((dataset, seeds)).map(
            lambda x, mask_seed: self(x, mask_seed=mask_seed),
            num_parallel_calls=num_parallel_calls,
        )

    def fill_features(self, x: Any) -> tuple[dict[str, Any], Any]:
        """Return the inputs for filling in the mask tokens that texts hold; nothing is masked.

        Args:
            x: (batch,) string, or pairs, as in the call, with "[MASK]" in them.

        Returns:
            The features with `mask_positions` (batch, masks), masks being the most of any row, and
            `mask_weights`, (batch, masks) float32: 1 on slots that are used.

        Raises:
            ValueError: if the tokenizer does not read special tokens in texts.
        """
        if not self.tokenizer.special_tokens_in_strings:
            raise ValueError(
                "The tokenizer takes a mask token in a text for ordinary text. Create it with "
                "`special_tokens_in_strings=True`. Received: special_tokens_in_strings=False"
            )
        return self.run_on_cpu(self._fill_features, x)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            **self._masking_options,
            "sequence_length": self.sequence_length,
            "segmented": self.segmented,
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "seed": self.seed,
        }

    def _pack(self, segments: Sequence[tf.RaggedTensor]) -> dict[str, tf.Tensor]:
        return pack(segments, self.template, self.sequence_length, self.pad_to_multiple_of)

    def _fill_features(self, x: Any) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        features = self._pack([self.tokenizer.tokenize(part) for part in texts_of(x)])
        is_mask = features[TOKEN_IDS] == self.tokenizer.mask_token_id
        positions = tf.where(tf.reshape(is_mask, [-1]))[:, 0]
        rows = Chosen(positions, 1 + tf.range(tf.size(positions))).in_rows(is_mask)
        positions = rows.in_slots(tf.cast(rows.positions, tf.int32), slots=None)
        return {**features, MASK_POSITIONS: positions}, rows.weights(slots=None)
