"""How a task is trained and measured whose rows are read in overlapping windows."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.data.row_order import RowOrder, steps_of_epoch
from kerazoo.tasks.base import Task
from kerazoo.tasks.packed_windows import PackedWindows, trimmed
from kerazoo.tasks.raw_inputs import batched, checked_batch_size, split_off
from kerazoo.without_autograph import without_autograph


class WindowedTraining(Task):
    """`fit` and `evaluate` of a task that learns from the windows of its rows.

    Rows in memory are packed before the first step, because their number of windows is not known
    before. Subclasses define `is_raw`, `read_columns`, `raw_targets` and `pack`.

    Attributes:
        rows_to_learn_from: what a row and its target are called.
    """

    rows_to_learn_from: ClassVar[str]

    def is_raw(self, x: Any) -> bool:
        """Return whether `x` is rows in memory."""
        raise TypeError(f"{type(self).__name__} does not define `is_raw`.")

    def read_columns(self, x: Any) -> dict[str, Any]:
        """Return rows in memory as columns.

        Raises:
            ValueError: if they are not what the task reads; the message names the row.
        """
        raise TypeError(f"{type(self).__name__} does not define `read_columns`.")

    def pack(
        self, columns: dict[str, Any], targets: Any = None, sample_weight: Any = None
    ) -> PackedWindows:
        """Return the windows of columns; targets as `raw_targets` returns them."""
        raise TypeError(f"{type(self).__name__} does not define `pack`.")

    def fit_windows(self, windows: PackedWindows, class_weight: Any) -> PackedWindows:
        """Return the windows to train on, with the weights of the classes; note what is in them."""
        return windows

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        sample_weight: Any = None,
        validation_data: Any = None,
        validation_split: float | None = None,
        shuffle: bool | RowOrder = True,
        class_weight: Mapping[Any, float] | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Train; like `keras.Model.fit`, on raw texts too. The task's class says what x and y are.

        Args:
            x: rows in memory, a `PackedWindows` of the task, or a `tf.data.Dataset` of batches as
                the preprocessor takes them.
            y: their targets; not with a dataset.
            batch_size: int, windows of a step; 32 if None.
            sample_weight: (rows,) float, the weight of a row in all of its windows.
            validation_data: a dataset, a `PackedWindows`, or `(x, y)` or `(x, y, sample_weight)`.
            validation_split: float, share of the rows, the last ones, to validate on.
            shuffle: bool, a new order of the windows every epoch (in memory only); or an order to
                go on in, as for `Task.fit`.
            class_weight: the weight of each class, by name or number, where there are classes.
            **kwargs: further arguments of `keras.Model.fit`.
        """
        weights = None if class_weight is None else self.class_numbers(class_weight)
        columns, targets = self._in_memory(x, y)
        if self.preprocessor is not None and columns is not None:
            if targets is None:
                raise ValueError(f"Training needs {self.rows_to_learn_from}. Received: y={y!r}")
            if validation_split and validation_data is None:
                (columns, targets, sample_weight), held_out = split_off(
                    (columns, targets, sample_weight), validation_split
                )
                validation_data, validation_split = self.pack(*held_out), None
            x, y, sample_weight = self.pack(columns, targets, sample_weight), None, None
        validation_data = self._validation_dataset(validation_data, batch_size)
        if isinstance(x, PackedWindows):
            if isinstance(shuffle, RowOrder):
                steps = steps_of_epoch(len(x), checked_batch_size(batch_size))
                kwargs.setdefault("steps_per_epoch", steps)
            x = _dataset(self.fit_windows(x, weights), batch_size, shuffle)
            batch_size, shuffle = None, False
        elif weights is not None:
            x = self.weighted_batches(x, weights)
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
        columns, targets = self._in_memory(x, y)
        if self.preprocessor is not None and columns is not None:
            x, y, sample_weight = self.pack(columns, targets, sample_weight), None, None
        if isinstance(x, PackedWindows):
            x, batch_size = _dataset(x, batch_size, shuffle=False), None
        return super().evaluate(
            x=x, y=y, batch_size=batch_size, sample_weight=sample_weight, **kwargs
        )

    def windows(self, x: Any, y: Any = None, sample_weight: Any = None) -> PackedWindows:
        """Return the windows of rows in memory, which `fit` and `evaluate` take too.

        Args:
            x: rows, as for `fit`.
            y: targets, as for `fit`; None for none.
            sample_weight: (rows,) float, or None.
        """
        columns = self.read_columns(x)
        targets = None if y is None else self.raw_targets(y, columns)
        return self.pack(columns, targets, sample_weight)

    @without_autograph
    def preprocess_samples(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch, or trim a batch of windows that are packed already."""
        is_ready = isinstance(x, Mapping) and TOKEN_IDS in x
        if self.preprocessor is None or not is_ready:
            return super().preprocess_samples(x, y, sample_weight)
        batch = ({key: x[key] for key in self.input}, y, sample_weight)
        multiple = self.preprocessor.pad_to_multiple_of
        if multiple is not None:
            longest = tf.reduce_max(tf.reduce_sum(x[PADDING_MASK], axis=1))
            batch = trimmed(batch, -(-longest // multiple) * multiple)
        return keras.utils.pack_x_y_sample_weight(*batch)

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return rows in memory as columns; None if `x` is something else."""
        return self.read_columns(x) if self.is_raw(x) else None

    def weighted_batches(self, data: Any, weights: Any) -> Any:
        """Return a dataset of preprocessed batches, with the weights of the classes."""
        raise TypeError(f"{type(self).__name__} has no classes to weigh.")

    def _validation_dataset(self, data: Any, batch_size: int | None) -> Any:
        if self.preprocessor is not None and isinstance(data, (tuple, list)):
            x, *rest = keras.utils.unpack_x_y_sample_weight(tuple(data))
            if self.is_raw(x):
                x = self.windows(x, *rest)
            data = x if isinstance(x, PackedWindows) else data
        if isinstance(data, PackedWindows):
            return _dataset(data, batch_size, shuffle=False)
        return super()._validation_dataset(data, batch_size)


def _dataset(
    windows: PackedWindows, batch_size: int | None, shuffle: bool | RowOrder
) -> tf.data.Dataset:
    return batched(windows.features, windows.targets, windows.weights, batch_size, shuffle)
