"""What the tasks that fill in masked words share: the head, masks for training, `fill_mask`."""

import random
from collections.abc import Sequence
from typing import Any, ClassVar

import keras
import keras_nlp
import tensorflow as tf

from kerazoo.axes import (
    MASK_POSITIONS,
    MASKED_LM,
    SEQUENCE_OUTPUT,
    TEXT,
    TEXT_PAIR,
    Tensor,
)
from kerazoo.checks import check_known_arguments, check_positive
from kerazoo.data.row_order import RowOrder
from kerazoo.layers.masked_lm_head import MaskedLMHead
from kerazoo.preprocessing.base import texts_of
from kerazoo.preprocessing.masking.seeds import batch_seeds, seed_of_texts
from kerazoo.tasks.base import Task
from kerazoo.tasks.fill_mask import FillMask
from kerazoo.tasks.preprocessor_checks import check_row_length, check_vocabulary_size
from kerazoo.without_autograph import without_autograph

MASK_SEED = "mask_seed"
"""Key of the seed that a batch of raw texts is masked with, (2,) int32."""

FROZEN_SEED = 0
"""Of the masks in evaluation and validation, which depend on the texts alone."""


class MaskedWordsTask(Task):
    """A bidirectional backbone with a masked-LM head.

    Raw texts are masked on the way: anew in each epoch of `fit`; in `evaluate` and in validation
    always in the same way.

    Attributes:
        masked_lm_head: the `MaskedLMHead`.
        vocabulary_size: int, rows of the token embedding.
    """

    needs_labels: ClassVar[bool] = False
    has_fixed_head: ClassVar[bool] = True
    preprocessor_arguments: ClassVar[tuple[str, ...]] = (
        *Task.preprocessor_arguments,
        *("masking", "segmented", "ngram_unit", "replace_per_word", "seed"),
        *("mask_selection_rate", "mask_selection_length", "mask_token_rate", "random_token_rate"),
    )
    _fill_mask: FillMask | None = None

    def make_masked_lm(
        self, backbone: keras.Model, preprocessor: Any, kwargs: dict[str, Any]
    ) -> dict[str, Tensor]:
        """Check the arguments, create the head, and return the inputs with `mask_positions`.

        Args:
            backbone: the backbone.
            preprocessor: the preprocessor, or None.
            kwargs: the constructor's further arguments.

        Raises:
            ValueError: if the backbone reads from left to right or cannot give back its token
                embedding, or the preprocessor does not suit it.
        """
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        _check_reads_both_ways(backbone)
        if preprocessor is not None:
            check_row_length(preprocessor, backbone)
            check_vocabulary_size(preprocessor, backbone)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.pairs = False
        self.labels: list[str] = []
        config = getattr(backbone, "config", None)
        initializer = keras.initializers.TruncatedNormal(
            stddev=getattr(config, "initializer_range", 0.02)
        )
        self.masked_lm_head = MaskedLMHead(
            backbone.token_embedding,
            activation=getattr(config, "activation", "gelu"),
            layer_norm_epsilon=getattr(config, "layer_norm_epsilon", 1e-12),
            kernel_initializer=keras.initializers.serialize(initializer),
            dtype=backbone.dtype_policy,
            name=MASKED_LM,
        )
        self.vocabulary_size = self.masked_lm_head.vocabulary_size
        positions = keras.Input((None,), dtype="int32", name=MASK_POSITIONS)
        return {**backbone.input, MASK_POSITIONS: positions}

    def masked_lm_logits(self, outputs: Any) -> Any:
        """Return the logits at the masks, (batch, masks, vocabulary), of the model's outputs."""
        return outputs

    # ---- masks ---------------------------------------------------------------------------------

    def note_pairs(self, columns: Any) -> None:
        """Remember nothing: it fills in the masks of single texts, whatever it learns from."""

    @without_autograph
    def training_dataset(self, x: Any, order: RowOrder | None = None) -> Any:
        """Return batches of raw texts, each with a seed, another one in every epoch.

        Args:
            x: a `tf.data.Dataset` of texts; anything else passes through.
            order: the order of the rows, if it is one that can be gone on in; then a batch's number
                decides about its masks.
        """
        if not isinstance(x, tf.data.Dataset):
            return x
        seed = self.preprocessor.seed
        if order is not None:
            seed = order.seed if seed is None else seed
            seeds = batch_seeds(seed, training=False, first_batch=order.first_batch)
            return tf.data.Dataset.zip((x, seeds)).map(_with_seed)
        # Python's generator: `keras.utils.set_random_seed` seeds it on every backend.
        seeds = batch_seeds(random.randrange(2**31) if seed is None else seed, training=True)
        return tf.data.Dataset.zip((x, seeds)).map(_with_seed)

    @without_autograph
    def preprocess_samples(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Mask a batch and keep the features that the model takes."""
        if self.preprocessor is None:
            return keras.utils.pack_x_y_sample_weight(x, y, sample_weight)
        if isinstance(x, dict) and MASK_SEED in x:
            texts = {key: x[key] for key in (TEXT, TEXT_PAIR) if key in x}
            mask_seed = x[MASK_SEED]
        else:
            texts, mask_seed = x, seed_of_texts(texts_of(x), FROZEN_SEED)
        features, y, sample_weight = self.preprocessor(
            texts, y=y, sample_weight=sample_weight, mask_seed=mask_seed
        )
        return {key: features[key] for key in self.input}, y, sample_weight

    def predict(self, x: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Compute outputs of ready inputs, without a preprocessor; like `keras.Model.predict`.

        Raises:
            ValueError: if the task has a preprocessor, which masks at random.
        """
        if self.preprocessor is not None:
            raise ValueError(
                "`predict` takes ready inputs with `mask_positions`: wrap it in `with "
                "task.without_preprocessor():`. To fill in the masks of texts use "
                f"`fill_mask`. Received: x={type(x).__name__} and a preprocessor"
            )
        return super().predict(x, batch_size=batch_size, **kwargs)

    # ---- texts with masks ----------------------------------------------------------------------

    def fill_mask(self, texts: str | Sequence[str], top_k: int = 5, batch_size: int = 32) -> Any:
        """Say which tokens stand at the masks of texts.

        Args:
            texts: a text, or a list of texts, with one or more `[MASK]` in each.
            top_k: int, tokens for each mask.
            batch_size: int, texts computed together.

        Returns:
            For each mask of the text a list of `top_k` dicts, best first, each of "token" (str, as
            in the vocabulary), "score" (float, its probability), "position" (int, the character
            of the text at which the mask begins) and "text" (str, with this token here and the best
            one at every other mask; "##s" goes on with the word before it). For a list of texts a
            list of those. Special tokens are never chosen.

        Raises:
            ValueError: if a text has no mask, or one that lies behind the tokens that are read.
        """
        if isinstance(texts, str):
            found = self._filling().candidates([texts], top_k, batch_size)
            return found[0]
        check_positive("batch_size", batch_size)
        return self._filling().candidates(list(texts), top_k, batch_size)

    def mask_answers(
        self, texts: Any, top_k: int = 5, batch_size: int = 32
    ) -> list[dict[str, Any]]:
        """Return for each text what a served model answers; see `fill_mask.mask_answers`.

        Args:
            texts: a list of texts, or a dict of it under "text".
            top_k: int, tokens for each mask.
            batch_size: int, texts computed together.
        """
        texts = texts[TEXT] if isinstance(texts, dict) else texts
        return self._filling().answers(list(texts), top_k, batch_size)

    def _filling(self) -> FillMask:
        """Return what fills masks; made once, as it compiles the vocabulary."""
        kept, preprocessor = self._fill_mask, self.preprocessor
        if kept is None or not kept.suits(preprocessor):
            self._fill_mask = kept = FillMask(self)
        return kept


def _with_seed(element: Any, seed: tf.Tensor) -> Any:
    """Return an element of a dataset of raw texts with the seed beside the texts."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(element)
    columns = dict(zip((TEXT, TEXT_PAIR), texts_of(x), strict=False))
    packed = keras.utils.pack_x_y_sample_weight({**columns, MASK_SEED: seed}, y, sample_weight)
    return packed if isinstance(packed, tuple) else (packed,)


def _check_reads_both_ways(backbone: Any) -> None:
    """Raise ValueError for a causal backbone, or one without a reversible token embedding."""
    decoder = keras_nlp.layers.TransformerDecoder
    layers = backbone._flatten_layers(include_self=False)
    if hasattr(backbone, "next_token_logits") or any(
        isinstance(layer, decoder) for layer in layers
    ):
        raise ValueError(
            "A masked language model needs a backbone that reads in both directions, such as "
            "BertBackbone; a causal one is trained with CausalLM. "
            f"Received: backbone={type(backbone).__name__}"
        )
    if not hasattr(backbone, "token_embedding"):
        raise ValueError(
            "The output matrix is the token embedding, and this backbone has no `token_embedding`. "
            f"Received: backbone={type(backbone).__name__}"
        )


def sequence_output(backbone: Any, inputs: dict[str, Tensor]) -> tuple[Tensor, Any]:
    """Return the states, (batch, seq, hidden), and all outputs of a backbone.

    Args:
        backbone: an encoder that outputs a sequence of states, or a dict with `sequence_output`.
        inputs: its inputs, and perhaps more.
    """
    outputs = backbone({key: inputs[key] for key in backbone.input})
    states = outputs[SEQUENCE_OUTPUT] if isinstance(outputs, dict) else outputs
    return states, outputs
