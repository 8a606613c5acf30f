"""How a token classifier is trained and measured: on words with tags, on texts with entities."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.tasks.packed_windows import PackedWindows, packed_windows
from kerazoo.tasks.tagged_columns import is_raw_tagged, tagged_columns, target_columns
from kerazoo.tasks.windowed_training import WindowedTraining
from kerazoo.without_autograph import without_autograph


class TaggedTraining(WindowedTraining):
    """`fit` and `evaluate` of a task whose texts become windows with a tag at their tokens.

    `fit` takes words as {"words": [[word, …], …]} or a list of lists, or texts as {"text": […]} or
    a list; a `PackedWindows`; or a `tf.data.Dataset` of batches as the preprocessor takes them. For
    words it takes their tags, names or numbers, [[tag, …], …]; for texts their entities,
    [[(start, end, type), …], …] in characters, or dicts of these. A CRF has no weights of classes.

    Attributes:
        labels: the tags in the order of the classes.
        crf: a `kerazoo.layers.crf.CRF`, or None.
        ban_illegal_moves: whether the CRF gives no I- that goes on with no entity of its type.
    """

    rows_to_learn_from = "texts with tags"
    labels: list[str]
    crf: Any
    ban_illegal_moves: bool

    def is_raw(self, x: Any) -> bool:
        """Return whether `x` is texts or words in memory."""
        return is_raw_tagged(x)

    def read_columns(self, x: Any) -> dict[str, Any]:
        """Return texts or words in memory as a column."""
        return tagged_columns(x)

    def raw_targets(self, y: Any, columns: dict[str, Any]) -> Any:
        """Return tags or entities as columns; with a CRF that bans moves, none of these."""
        targets = target_columns(y, columns, self.labels)
        if self.ban_illegal_moves and not isinstance(targets, dict):
            self.crf.check_tags(targets.to_tensor(), tf.sequence_mask(targets.row_lengths()))
        return targets

    def pack(
        self, columns: dict[str, Any], targets: Any = None, sample_weight: Any = None
    ) -> PackedWindows:
        """Return the windows of texts."""
        return packed_windows(self.preprocessor, columns, targets, sample_weight)

    def fit_windows(
        self, windows: PackedWindows, class_weight: Mapping[int, float] | None
    ) -> PackedWindows:
        """Return windows whose words weigh what their tags do."""
        if class_weight is None:
            return windows
        of_word = windows.weights * self._tag_weights(class_weight)[windows.targets]
        return dataclasses.replace(windows, weights=of_word)

    @without_autograph
    def weighted_batches(self, data: Any, class_weight: Mapping[int, float]) -> Any:
        """Return a dataset of preprocessed batches whose tags have these weights."""
        if not isinstance(data, tf.data.Dataset):
            raise ValueError(
                "`class_weight` needs texts in memory or a tf.data.Dataset; weigh ready inputs "
                f"with `sample_weight`. Received: x of type {type(data).__name__}"
            )

        weights = tf.constant(self._tag_weights(class_weight))

        def weigh(*batch: Any) -> Any:
            x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(
                self.preprocess_samples(*batch)
            )
            of_word = tf.gather(weights, y)
            return x, y, of_word if sample_weight is None else of_word * sample_weight

        return data.map(weigh, num_parallel_calls=tf.data.AUTOTUNE)

    def _tag_weights(self, class_weight: Mapping[int, float]) -> np.ndarray:
        return np.array([class_weight[number] for number in range(len(self.labels))], "float32")
