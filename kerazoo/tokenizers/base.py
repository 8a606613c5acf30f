"""What every kerazoo tokenizer does, whatever its algorithm."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Self

import keras
import keras_nlp
import numpy as np
import tensorflow as tf

from kerazoo.axes import ID_DTYPE
from kerazoo.tokenizers.texts import to_string_tensor
from kerazoo.without_autograph import without_autograph

_TEXTS_AT_ONCE = 1024


class Tokenizer(keras_nlp.tokenizers.Tokenizer):
    """A KerasHub tokenizer with character offsets and one implementation, in the graph.

    KerasHub tokenizes in Python when called eagerly and in TensorFlow when traced, and the two
    disagree. Here every call runs the same TensorFlow operations on the CPU and returns
    TensorFlow tensors, on every backend, so that ids are equal eagerly, in `tf.data` and in a
    SavedModel. Nothing is mutable and no lookup table needs to be initialised.

    Subclasses define `tokenize_rows`, `tokenize_rows_with_offsets`, `has_vocabulary`,
    `template_token_ids`, the vocabulary methods of KerasHub's class, and their special tokens
    through `_add_special_token`.

    Args:
        dtype: "int32", the dtype of ids.
        **kwargs: `name`, `trainable` and `config_file`, as in KerasHub.
    """

    def __init__(self, dtype: Any = ID_DTYPE, **kwargs: Any) -> None:
        """Create the layer without a vocabulary."""
        super().__init__(dtype=dtype, _allow_python_workflow=False, **kwargs)
        if self.compute_dtype != ID_DTYPE:
            raise ValueError(f"Tokenizers return {ID_DTYPE} ids. Received: dtype={dtype!r}")

    @property
    def has_vocabulary(self) -> bool:
        """Whether a vocabulary was given; one read from a `.keras` file gets its own last."""
        raise TypeError(f"{type(self).__name__} does not define `has_vocabulary`.")

    @property
    def template_token_ids(self) -> tuple[int, int, int, int]:
        """The ids of start, separator, end and padding of a packed row."""
        raise TypeError(f"{type(self).__name__} does not define `template_token_ids`.")

    def tokenize_rows(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return ids of texts, (batch,) string -> (batch, tokens) int32; any bytes will do."""
        raise TypeError(f"{type(self).__name__} does not define `tokenize_rows`.")

    def tokenize_rows_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids, starts and ends of texts in any bytes, each (batch, tokens) int32."""
        raise TypeError(f"{type(self).__name__} does not define `tokenize_rows_with_offsets`.")

    @without_autograph
    def tokenize(self, texts: Any) -> tf.RaggedTensor | tf.Tensor:
        """Turn texts into ids.

        Args:
            texts: a string or a (nested) list, array or tensor of strings.

        Returns:
            int32 ids in one more axis than `texts` has: (tokens,) for a string, a ragged
            (batch, tokens) for a list of strings.

        Raises:
            TypeError: if an element is no string.
            ValueError: if the tokenizer has no vocabulary yet.
        """
        (ids,) = self._apply(lambda rows: (self.tokenize_rows(rows),), texts)
        return ids

    @without_autograph
    def tokenize_with_offsets(self, texts: Any) -> tuple[Any, Any, Any]:
        """Turn texts into ids and the characters that each id covers.

        Offsets count Unicode code points in the caller's own string, so `text[start:end]` is what
        the token stands for. They are half-open, and the ids equal those of `tokenize`.

        Args:
            texts: as in `tokenize`.

        Returns:
            (ids, starts, ends), each int32 and shaped as the ids of `tokenize`.
        """
        return self._apply(self.tokenize_rows_with_offsets, texts)

    def call(self, inputs: Any, training: bool | None = None) -> tf.RaggedTensor | tf.Tensor:
        """Return `tokenize(inputs)`."""
        return self.tokenize(inputs)

    def compute_output_spec(self, inputs: Any, training: bool | None = None) -> keras.KerasTensor:
        """Return the shape of the ids: one axis of unknown size more than the inputs."""
        return keras.KerasTensor((*inputs.shape, None), dtype=ID_DTYPE)

    def unknown_rate(self, texts: Iterable[str]) -> float:
        """Return the share of tokens that are unknown: how badly the vocabulary fits the texts.

        Args:
            texts: strings, in any number; they are read in portions.

        Returns:
            A number from 0 to 1; other special tokens are not counted, and texts without any
            token give 0.
        """
        others = sorted(set(self.special_token_ids) - {self.unk_token_id})
        unknown = counted = 0
        for portion in _portions(texts):
            ids = self.tokenize(portion).flat_values.numpy()
            counted += int(np.isin(ids, others, invert=True).sum())
            unknown += int((ids == self.unk_token_id).sum())
        return unknown / counted if counted else 0.0

    @property
    def special_tokens(self) -> list[str]:
        """The special tokens, each once, in the order in which they were named."""
        names = getattr(self, "_special_token_attrs", [])
        return list(dict.fromkeys(getattr(self, name) for name in names))

    @property
    def special_token_ids(self) -> list[int]:
        """The ids of the special tokens, each once, in the order in which they were named."""
        names = getattr(self, "_special_token_attrs", [])
        ids = dict.fromkeys(getattr(self, f"{name}_id") for name in names)
        if None in ids:
            raise ValueError(
                "The tokenizer has no vocabulary, so its special tokens have no ids. Call "
                f"`set_vocabulary` first. Received: {type(self).__name__}"
            )
        return list(ids)

    @classmethod
    def from_preset(
        cls, preset: str | Path, config_file: str = "tokenizer.json", **kwargs: Any
    ) -> Self:
        """Read a tokenizer from a saved preset folder.

        Args:
            preset: a folder written by `save_to_preset`.
            config_file: str, the tokenizer's file in it.
            **kwargs: arguments that win over the saved ones.

        Returns:
            The tokenizer with its vocabulary.

        Raises:
            FileNotFoundError: if the folder holds no such file.
            ValueError: if the file holds no tokenizer of this class.
        """
        path = Path(preset) / config_file
        if not path.is_file():
            raise FileNotFoundError(
                "The folder holds no saved tokenizer. Name a folder written by `save_to_preset`. "
                f"Received: preset={str(preset)!r}, config_file={config_file!r}"
            )
        config = json.loads(path.read_text(encoding="utf-8"))
        if "registered_name" not in config:
            raise ValueError(
                f"{path} is no Keras tokenizer. A Hugging Face folder has a file of the same name: "
                "convert it with `kerazoo convert`. "
                f"Received: preset={str(preset)!r}"
            )
        config["config"].update(kwargs)
        tokenizer = keras.saving.deserialize_keras_object(config)
        if not isinstance(tokenizer, cls):
            raise ValueError(
                f"The preset's tokenizer is no {cls.__name__}. Load it with its own class. "
                f"Received: preset={str(preset)!r} with a {type(tokenizer).__name__}"
            )
        tokenizer.load_preset_assets(str(preset))
        return tokenizer

    def _apply(self, function: Any, texts: Any) -> tuple[Any, ...]:
        """Run a function of (batch,) texts on texts of any rank; it returns ragged tensors."""
        with tf.device("CPU:0"):
            texts = to_string_tensor(texts)
            if texts.shape.rank is None:
                raise ValueError(
                    "The number of axes of the texts must be known when a graph is traced. "
                    f"Received: texts of shape {texts.shape}"
                )
            return _apply_to_rows(function, texts)


def _apply_to_rows(function: Any, texts: tf.Tensor | tf.RaggedTensor) -> tuple[Any, ...]:
    rank = texts.shape.rank
    if rank == 0:
        return tuple(result.values for result in function(texts[tf.newaxis]))
    if rank == 1:
        return tuple(_with_rows(result, texts.shape[0]) for result in function(texts))
    if not isinstance(texts, tf.RaggedTensor):
        texts = tf.RaggedTensor.from_tensor(texts, ragged_rank=rank - 1)
    texts = texts.with_row_splits_dtype(tf.int64)
    results = _apply_to_rows(function, texts.flat_values)
    return tuple(texts.with_flat_values(result) for result in results)


def _with_rows(result: tf.RaggedTensor, rows: int | None) -> tf.RaggedTensor:
    """Return a ragged tensor that knows its number of rows, which a traced function forgets."""
    if rows is None or result.shape[0] == rows:
        return result
    splits = tf.ensure_shape(result.row_splits, [rows + 1])
    return tf.RaggedTensor.from_row_splits(result.values, splits, validate=False)


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while portion := list(islice(remaining, _TEXTS_AT_ONCE)):
        yield portion
