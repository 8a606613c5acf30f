"""What every preprocessor shares: one TensorFlow graph, eagerly and in `tf.data`."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import keras_nlp
import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.preprocessing.packing import PackingTemplate
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.without_autograph import without_autograph


class Preprocessor(keras_nlp.models.Preprocessor):
    """Base of all preprocessors; each has `sequence_length`, the most positions of its rows.

    KerasHub's preprocessors run Python code when called eagerly and TensorFlow inside `tf.data`,
    and the two disagree. Here the TensorFlow graph always runs; called eagerly, numbers come back
    as tensors of the backend at work.

    Subclasses define `preprocess(x, y, sample_weight)` on TensorFlow tensors.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        **kwargs: `name` and the like of `keras.layers.Layer`.
    """

    sequence_length: int

    def __init__(self, tokenizer: Tokenizer, **kwargs: Any) -> None:
        """Keep the tokenizer."""
        super().__init__(**kwargs)
        self.tokenizer = tokenizer
        self.built = True

    @property
    def template(self) -> PackingTemplate:
        """The special tokens of the packed rows."""
        return PackingTemplate.from_tokenizer(self.tokenizer)

    def preprocess(self, x: Any, y: Any, sample_weight: Any) -> Any:
        """Turn a batch into `x`, `(x, y)` or `(x, y, sample_weight)` of dense tensors."""
        raise TypeError(f"{type(self).__name__} does not define `preprocess`.")

    @without_autograph
    def __call__(self, x: Any, y: Any = None, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Preprocess a batch; a tuple `(a, b)` is two texts, never text and label."""
        # KerasHub's own `__call__` would take a tuple apart into text and label.
        return keras.layers.Layer.__call__(self, x, y=y, sample_weight=sample_weight, **kwargs)

    def call(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Run `preprocess` on the CPU."""
        return self.run_on_cpu(self.preprocess, x, y, sample_weight)

    def run_on_cpu(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function gives; numbers as tensors of the backend if called eagerly."""
        with tf.device("cpu"):
            outputs = function(*arguments)
        if tf.executing_eagerly() and keras.config.backend() != "tensorflow":
            outputs = tf.nest.map_structure(_to_backend, outputs)
        return outputs

    def count_truncated(self, x: Any, batch_size: int = 1024) -> int:
        """Return how many of the texts (or pairs) are longer than `sequence_length` allows.

        Args:
            x: texts or pairs, as for the call; all of them at once.
            batch_size: int, texts that are tokenised together.
        """
        return int(np.count_nonzero(self.text_lengths(x, batch_size) > self.sequence_length))

    def text_lengths(self, x: Any, batch_size: int = 1024) -> np.ndarray:
        """Return the tokens of each text (or pair), special tokens included, if none is cut.

        Args:
            x: texts or pairs, as for the call; all of them at once.
            batch_size: int, texts that are tokenised together.

        Returns:
            (rows,) int64.
        """
        texts = texts_of(x)
        portions = [np.zeros(0, np.int64)]
        for start in range(0, int(texts[0].shape[0]), batch_size):
            lengths = [
                self.tokenizer.tokenize(part[start : start + batch_size]).row_lengths()
                for part in texts
            ]
            portions.append(tf.add_n(lengths).numpy() + len(texts) + 1)
        return np.concatenate(portions)


def texts_of(x: Any) -> tuple[tf.Tensor, ...]:
    """Return the one or two text tensors of a batch.

    Args:
        x: (batch,) string in any form: list, array, tensor; or a pair as tuple `(a, b)` or dict
            `{"text": a, "text_pair": b}`.

    Returns:
        One or two tensors, (batch,) string. A single string becomes a batch of one.

    Raises:
        ValueError: if `x` has other keys, more than two texts or another rank.
    """
    if isinstance(x, dict):
        unknown = set(x) - {TEXT, TEXT_PAIR}
        if unknown or TEXT not in x:
            raise ValueError(
                f"Texts come under the keys {TEXT!r} and, for pairs, {TEXT_PAIR!r}. "
                f"Received: keys={sorted(x)}"
            )
        parts = [x[TEXT]] + ([x[TEXT_PAIR]] if TEXT_PAIR in x else [])
    elif isinstance(x, tuple):
        parts = list(x)
    else:
        parts = [x]
    if len(parts) not in (1, 2):
        raise ValueError(f"One text or a pair is needed. Received: {len(parts)} texts")
    return tuple(_as_strings(part) for part in parts)


def labels_to_ids(y: Any, labels: Sequence[str] | None) -> tf.Tensor:
    """Return class numbers for label names; numbers pass through.

    Args:
        y: (batch,) string or integer.
        labels: the label names in the order of the classes; None if there are only numbers.

    Returns:
        (batch,) int32.

    Raises:
        ValueError: if names are given and `labels` is None.
        tf.errors.InvalidArgumentError: for a name that is not among `labels`, or a number that
            is none of theirs.
    """
    y = tf.convert_to_tensor(y)
    if y.dtype != tf.string:
        return _checked_numbers(tf.cast(y, tf.int32), labels)
    if labels is None:
        raise ValueError("Label names need `labels=[…]` on the task. Received: labels=None")
    # Comparing with every label keeps the graph free of lookup tables.
    matches = y[..., tf.newaxis] == tf.constant(list(labels))
    known = tf.reduce_any(matches, axis=-1)
    unknown = tf.boolean_mask(y, ~known)
    message = f"Unknown label; the task knows {', '.join(labels)}. Received: label="
    check = tf.debugging.Assert(tf.reduce_all(known), [message, unknown])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.argmax(matches, axis=-1, output_type=tf.int32)


def _checked_numbers(y: tf.Tensor, labels: Sequence[str] | None) -> tf.Tensor:
    """Return class numbers that are in range; a wrong one would train silently on some backends."""
    if labels is None:
        return y
    outside = tf.boolean_mask(y, (y < 0) | (y >= len(labels)))
    message = f"A class number is outside 0 to {len(labels) - 1}. Received: y="
    check = tf.debugging.Assert(tf.equal(tf.size(outside), 0), [message, outside])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(y)


def _as_strings(value: Any) -> tf.Tensor:
    """Return (batch,) string; an empty list has no dtype of its own, so it is given one."""
    tensor = value if tf.is_tensor(value) else tf.convert_to_tensor(value, dtype=tf.string)
    if tensor.dtype != tf.string:
        raise ValueError(f"Texts must be strings. Received: dtype={tensor.dtype.name}")
    if tensor.shape.rank == 0:
        tensor = tensor[tf.newaxis]
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"Texts must have one axis, the batch. Received: shape={tensor.shape}")
    return tensor


def _to_backend(value: Any) -> Any:
    if tf.is_tensor(value) and value.dtype != tf.string:
        return keras.ops.convert_to_tensor(value.numpy())
    return value
