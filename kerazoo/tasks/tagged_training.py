"""How a token classifier is trained and measured: on words with tags, on texts with entities."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.tasks.base import Task
from kerazoo.tasks.raw_inputs import batched, split_off
from kerazoo.tasks.tagged_columns import is_raw_tagged, tagged_columns, target_columns
from kerazoo.tasks.tagged_rows import TaggedRows, tagged_rows


class TaggedTraining(Task):
    """`fit` and `evaluate` of a task whose texts become windows with a tag at their tokens.

    Attributes:
        labels: the tags in the order of the classes.
        crf: a `kerazoo.layers.crf.CRF`, or None.
        ban_illegal_moves: whether the CRF gives no I- that goes on with no entity of its type.
    """

    labels: list[str]
    crf: Any
    ban_illegal_moves: bool

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        sample_weight: Any = None,
        validation_data: Any = None,
        validation_split: float | None = None,
        shuffle: bool = True,
        class_weight: Mapping[Any, float] | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Train; like `keras.Model.fit`, on raw texts or words too.

        Args:
            x: words as {"words": [[word, …], …]} or a list of lists; or texts as {"text": […]} or a
                list; a `TaggedRows`; or a `tf.data.Dataset` of batches as the preprocessor takes
                them.
            y: for words their tags, names or numbers, [[tag, …], …]; for texts their entities,
                [[(start, end, type), …], …] in characters, or dicts of these; not with a dataset.
            batch_size: int, windows of a step; 32 if None.
            sample_weight: (rows,) float, the weight of a text.
            validation_data: a dataset, a `TaggedRows`, or `(x, y)` or `(x, y, sample_weight)`.
            validation_split: float, share of the texts, the last ones, to validate on.
            shuffle: bool, a new order of the windows every epoch (in memory only).
            class_weight: the weight of each tag, by name or number; not with a CRF.
            **kwargs: further arguments of `keras.Model.fit`.
        """
        weights = None if class_weight is None else self._tag_weights(class_weight)
        columns, tags = self._in_memory(x, y)
        if self.preprocessor is not None and columns is not None:
            if tags is None:
                raise ValueError(f"Training needs texts with tags. Received: y={y!r}")
            if validation_split and validation_data is None:
                parts = split_off((columns, tags, sample_weight), validation_split)
                (columns, tags, sample_weight), held_out = parts[0], parts[1]
                validation_data = tagged_rows(self.preprocessor, *held_out)
                validation_split = None
            x = tagged_rows(self.preprocessor, columns, tags, sample_weight)
            y = sample_weight = None
        validation_data = self._validation_dataset(validation_data, batch_size)
        if isinstance(x, TaggedRows):
            of_word = x.weights if weights is None else x.weights * weights[x.targets]
            x = batched(x.features, x.targets, of_word, batch_size, shuffle)
            batch_size = None
        elif weights is not None:
            x = self._weighted(x, weights)
        return super().fit(
            x=x,
            y=y,
            batch_size=batch_size,
            sample_weight=sample_weight,
            validation_data=validation_data,
            validation_split=validation_split,
            shuffle=shuffle,
            **kwargs,
        )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Measure loss and metrics of windows; like `keras.Model.evaluate`, on raw texts too."""
        columns, tags = self._in_memory(x, y)
        if self.preprocessor is not None and columns is not None:
            x = tagged_rows(self.preprocessor, columns, tags, sample_weight)
            y = sample_weight = None
        if isinstance(x, TaggedRows):
            x, batch_size = batched(x.features, x.targets, x.weights, batch_size, False), None
        return super().evaluate(
            x=x, y=y, batch_size=batch_size, sample_weight=sample_weight, **kwargs
        )

    def windows(self, x: Any, y: Any = None, sample_weight: Any = None) -> TaggedRows:
        """Return the windows of texts in memory, which `fit` and `evaluate` take too.

        Args:
            x: words or texts, as for `fit`.
            y: tags or entities, as for `fit`; None for none.
            sample_weight: (rows,) float, or None.
        """
        columns = tagged_columns(x)
        tags = None if y is None else self._targets(y, columns)
        return tagged_rows(self.preprocessor, columns, tags, sample_weight)

    def preprocess_samples(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch, or trim a batch of windows that are packed already."""
        is_ready = isinstance(x, Mapping) and TOKEN_IDS in x
        if self.preprocessor is None or not is_ready:
            return super().preprocess_samples(x, y, sample_weight)
        x = {key: x[key] for key in self.input}
        multiple = self.preprocessor.pad_to_multiple_of
        if multiple is not None:
            longest = tf.reduce_max(tf.reduce_sum(x[PADDING_MASK], axis=1))
            width = -(-longest // multiple) * multiple
            x, y, sample_weight = tf.nest.map_structure(
                lambda value: None if value is None else value[:, :width], (x, y, sample_weight)
            )
        return keras.utils.pack_x_y_sample_weight(x, y, sample_weight)

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return texts or words in memory as a column; None if `x` is something else."""
        return tagged_columns(x) if is_raw_tagged(x) else None

    def _in_memory(self, x: Any, y: Any) -> tuple[Any, Any]:
        columns, tags = super()._in_memory(x, None)
        if self.preprocessor is None:
            return columns, y
        if columns is not None and y is not None:
            tags = self._targets(y, columns)
        return columns, tags

    def _targets(self, y: Any, columns: dict[str, Any]) -> Any:
        targets = target_columns(y, columns, self.labels)
        if self.ban_illegal_moves and not isinstance(targets, dict):
            self.crf.check_tags(targets.to_tensor(), tf.sequence_mask(targets.row_lengths()))
        return targets

    def _validation_dataset(self, data: Any, batch_size: int | None) -> Any:
        if self.preprocessor is not None and isinstance(data, (tuple, list)):
            x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(tuple(data))
            if is_raw_tagged(x):
                x = self.windows(x, y, sample_weight)
            data = x if isinstance(x, TaggedRows) else data
        if isinstance(data, TaggedRows):
            return batched(data.features, data.targets, data.weights, batch_size, shuffle=False)
        return super()._validation_dataset(data, batch_size)

    def _tag_weights(self, class_weight: Mapping[Any, float]) -> np.ndarray:
        weights = self.class_numbers(class_weight)
        return np.array([weights[number] for number in range(len(self.labels))], "float32")

    def _weighted(self, data: Any, weights: np.ndarray) -> Any:
        """Return a dataset of preprocessed batches whose tags have these weights."""
        if not isinstance(data, tf.data.Dataset):
            raise ValueError(
                "`class_weight` needs texts in memory or a tf.data.Dataset; weigh ready inputs "
                f"with `sample_weight`. Received: x of type {type(data).__name__}"
            )

        def weigh(*batch: Any) -> Any:
            x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(
                self.preprocess_samples(*batch)
            )
            of_word = tf.gather(tf.constant(weights), y)
            return x, y, of_word if sample_weight is None else of_word * sample_weight

        return data.map(weigh, num_parallel_calls=tf.data.AUTOTUNE)
