"""What every kerazoo task can do, whatever its head."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, Self

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import TEXT_PAIR
from kerazoo.conversion.new_folder import updated_folder
from kerazoo.conversion.report import LoadReport
from kerazoo.conversion.source import CheckpointSource
from kerazoo.data.row_order import RowOrder, row_count, steps_of_epoch
from kerazoo.preprocessing.base import Preprocessor
from kerazoo.tasks.divided_data import DividedData
from kerazoo.tasks.finite_means import FiniteMeans
from kerazoo.tasks.preset import load_task
from kerazoo.tasks.raw_inputs import (
    batched,
    checked_batch_size,
    feature_columns,
    is_raw_text,
    label_column,
    split_off,
    text_columns,
)
from kerazoo.tasks.replicas import strategy_of_several
from kerazoo.tasks.serving_signature import ServingSignature
from kerazoo.tasks.truncation import warn_of_truncated
from kerazoo.tasks.whole_batch import WholeBatch
from kerazoo.without_autograph import without_autograph

# Keras puts its functional model into the bases of a model class, base by base, and fails where two
# branches meet; so this class has no Keras base, and goes before one of KerasHub's.


class Task(FiniteMeans, WholeBatch, DividedData):
    """What every task adds to KerasHub's: raw texts in `fit`, presets of any format, export.

    Used as `class TextClassifier(Task, keras_nlp.models.TextClassifier)`. One class serves every
    backbone, where KerasHub has one class for each pair of family and task.

    Attributes:
        load_report: what was loaded from a foreign checkpoint; None for a fresh task and for one
            read from a kerazoo preset.
        pairs: whether the texts come as pairs; set by `fit`, remembered in the preset, and decides
            whether the exported model asks for `text_pair`.
        has_fixed_head: whether the head is the same in every model of the task, so that a head of
            any checkpoint fits: those of pre-training, which several tasks share.
    """

    preprocessor: Any
    task_name: ClassVar[str]
    preprocessor_cls: ClassVar[type[Preprocessor]]
    needs_labels: ClassVar[bool] = True
    preprocessor_arguments: ClassVar[tuple[str, ...]] = ("sequence_length", "pad_to_multiple_of")
    needs_task_tokens: ClassVar[bool] = False
    has_fixed_head: ClassVar[bool] = False
    load_report: LoadReport | None = None

    # ---- reading and writing -------------------------------------------------------------------

    @classmethod
    def from_preset(
        cls, preset: str | Path | CheckpointSource, load_weights: bool = True, **kwargs: Any
    ) -> Self:
        """Read a task, or a backbone to put a new head on.

        Args:
            preset: a kerazoo preset folder, a Hugging Face folder, a folder with Google's TF1
                BERT checkpoint, or a handle `hf://org/name`.
            load_weights: bool, read the weights; False keeps the random ones.
            **kwargs: constructor arguments of the task that win over the preset's;
                `dtype` for the backbone; `sequence_length`, `pad_to_multiple_of` and the others of
                `preprocessor_arguments` for the preprocessor.

        Returns:
            The task. The head is read too if the preset has one for the same labels, else it is
            new; `load_report` says which for a foreign checkpoint.

        Raises:
            FileNotFoundError: if the folder or a file of it does not exist.
            ValueError: if it is no checkpoint, is damaged, or lacks a backbone weight.
        """
        return load_task(cls, preset, load_weights, **kwargs)

    @classmethod
    def merge_config(cls, saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return constructor arguments: the saved ones, overruled by the given ones."""
        return {**saved, **given}

    @classmethod
    def same_head(cls, saved: Mapping[str, Any], task: "Task") -> bool:
        """Return whether a head saved under the config `saved` fits `task`."""
        return bool(saved)

    def save_to_preset(self, preset_dir: str | Path, max_shard_size: float = 10) -> None:
        """Write the task as a preset folder; an earlier preset there is replaced when it is whole.

        Args:
            preset_dir: the folder; other files in it stay.
            max_shard_size: float, GB of weights in one file.
        """
        with updated_folder(preset_dir) as folder:
            super().save_to_preset(str(folder), max_shard_size=max_shard_size)

    def save_task_weights(self, filepath: str | Path) -> None:
        """Write the head's weights; KerasHub's would add the optimizer's slots of the backbone."""
        keras.saving.save_weights(self, str(filepath), objects_to_skip=self._not_of_the_head())

    def load_task_weights(self, filepath: str | Path) -> None:
        """Read the head's weights."""
        keras.saving.load_weights(self, str(filepath), objects_to_skip=self._not_of_the_head())

    def _not_of_the_head(self) -> list[Any]:
        optimizer = getattr(self, "optimizer", None)
        return [*self.backbone._flatten_layers(), *([] if optimizer is None else [optimizer])]

    def export_to_transformers(self, path: str | Path) -> None:
        """Write a Hugging Face folder that `transformers` loads with equal outputs.

        Args:
            path: folder to create; it must not hold another model.
        """
        from kerazoo.conversion.huggingface import save_huggingface

        tokenizer = None if self.preprocessor is None else self.preprocessor.tokenizer
        save_huggingface(
            self,
            getattr(self.backbone, "config", None),
            path,
            tokenizer=tokenizer,
            labels=getattr(self, "labels", None) or None,
            head_dropout=getattr(self, "dropout", None),
            family=getattr(self.backbone, "family", ""),
            task_name=self.task_name,
        )

    def export(self, base_dir: str | Path, **kwargs: Any) -> Path:
        """Write a SavedModel that takes raw text and that stock TensorFlow Serving serves.

        Args:
            base_dir: folder of the model; the next free version number is created inside.
            **kwargs: see `kerazoo.export.saved_model.export_task`.

        Returns:
            The folder of the version written.
        """
        from kerazoo.export.saved_model import export_task

        return export_task(self, base_dir, **kwargs)

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return the signatures of the exported model by name."""
        raise TypeError(f"{type(self).__name__} does not define `serving_signatures`.")

    # ---- training and prediction on raw texts --------------------------------------------------

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
        """Train; like `keras.Model.fit`, on raw texts too.

        Args:
            x: texts as a list, a pair `(list_a, list_b)`, a dict `{"text": …, "text_pair": …}`, or
                a `tf.data.Dataset` of batches of those.
            y: label names or class numbers; None with a dataset.
            batch_size: int; 32 if None.
            sample_weight: (rows,) float.
            validation_data: a dataset, or `(x, y)` or `(x, y, sample_weight)`.
            validation_split: float, share of the rows, the last ones, to validate on.
            shuffle: bool, a new order of the rows every epoch (lists only); or an order to go on
                in from any batch, which `epochs` then counts on from.
            class_weight: weight of each class, by label name or class number.
            **kwargs: further arguments of `keras.Model.fit`.
        """
        if class_weight is not None:
            kwargs["class_weight"] = self.class_numbers(class_weight)
        validation_data = self._validation_dataset(validation_data, batch_size)
        columns, y = self._in_memory(x, y)
        order = shuffle if isinstance(shuffle, RowOrder) else None
        if columns is not None:
            if self.needs_labels and (y is None or len(y) == 0):
                raise ValueError(f"Training needs texts with labels. Received: y={y!r}")
            if row_count(columns) == 0:
                raise ValueError("Training needs texts. Received: no rows")
            if validation_split and validation_data is None:
                (columns, y, sample_weight), (x_held, y_held, weight_held) = split_off(
                    (columns, y, sample_weight), validation_split
                )
                validation_data = batched(x_held, y_held, weight_held, batch_size, shuffle=False)
            if self.preprocessor is not None:
                self.note_pairs(columns)
            warn_of_truncated(self.preprocessor, columns, row_count(columns))
            x = batched(columns, y, sample_weight, batch_size, shuffle)
            if order is not None:
                steps = steps_of_epoch(row_count(columns), checked_batch_size(batch_size))
                kwargs.setdefault("steps_per_epoch", steps)
            y = sample_weight = batch_size = validation_split = None
        elif order is not None:
            raise ValueError(
                "An order is for rows in memory; a dataset has its own. "
                f"Received: shuffle={order} with x of {type(x).__name__}"
            )
        if self.preprocessor is not None:
            x = self.training_dataset(x, order)
        self._build_optimizer()
        kwargs["shuffle"] = bool(shuffle) and not isinstance(x, tf.data.Dataset)
        return super().fit(
            x=x,
            y=y,
            batch_size=batch_size,
            sample_weight=sample_weight,
            validation_data=validation_data,
            validation_split=validation_split,
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
        """Measure loss and metrics; like `keras.Model.evaluate`, on raw texts too."""
        columns, y = self._in_memory(x, y)
        if columns is not None:
            warn_of_truncated(self.preprocessor, columns, row_count(columns))
            x = batched(columns, y, sample_weight, batch_size, shuffle=False)
            y = sample_weight = batch_size = None
        return super().evaluate(
            x=x, y=y, batch_size=batch_size, sample_weight=sample_weight, **kwargs
        )

    def predict(self, x: Any = None, batch_size: int | None = None, **kwargs: Any) -> Any:
        """Compute outputs; like `keras.Model.predict`, on raw texts too. No texts give no rows."""
        columns, _ = self._in_memory(x, None)
        if columns is not None:
            if row_count(columns) == 0:
                return self.no_rows()
            warn_of_truncated(self.preprocessor, columns, row_count(columns))
            is_one_batch = row_count(columns) <= checked_batch_size(batch_size)
            if is_one_batch and kwargs == {"verbose": 0} and self._is_on_one_device():
                return self.predict_on_batch(columns)  # a dataset takes longer than the answers
            x, batch_size = batched(columns, None, None, batch_size, shuffle=False), None
        return super().predict(x=x, batch_size=batch_size, **kwargs)

    @without_autograph
    def preprocess_samples(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch and keep the features that the model takes."""
        outputs = super().preprocess_samples(x, y, sample_weight)
        if self.preprocessor is None:
            return outputs
        features, y, sample_weight = keras.utils.unpack_x_y_sample_weight(outputs)
        features = {key: features[key] for key in self.input if key in features}
        return keras.utils.pack_x_y_sample_weight(features, y, sample_weight)

    def note_pairs(self, columns: Mapping[str, Any]) -> None:
        """Remember whether the texts that `fit` got come as pairs."""
        self.pairs = TEXT_PAIR in columns

    def training_dataset(self, x: Any, order: RowOrder | None = None) -> Any:
        """Return the raw texts that `fit` trains on, with what else their preprocessing needs.

        Args:
            x: a `tf.data.Dataset` of batches; anything else passes through.
            order: the order of the rows, if it is one that can be gone on in.
        """
        return x

    @contextmanager
    def without_preprocessor(self) -> Iterator[None]:
        """Take ready inputs in `fit`, `evaluate` and `predict` while the block runs."""
        preprocessor, self.preprocessor = self.preprocessor, None
        try:
            yield
        finally:
            self.preprocessor = preprocessor

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile as before saving; Keras itself leaves models with a `compile` of their own."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        self.optimizer.build(self.trainable_variables)

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return texts in memory as columns, or None if `x` is something else.

        Args:
            x: what the user passed to `fit`, `evaluate` or `predict`.

        Returns:
            dict of tensors with one row a text, or pair of texts.

        Raises:
            ValueError: if the texts are not what the task reads; the message names the row.
        """
        return text_columns(x) if is_raw_text(x) else None

    def raw_targets(self, y: Any, columns: dict[str, Any]) -> Any:
        """Return what texts in memory are to be learnt with: of most tasks a label each.

        Args:
            y: what the user passed.
            columns: the texts, from `raw_columns`.

        Raises:
            ValueError: if it does not belong to the texts, or the task does not know it.
        """
        return self.raw_labels(y, row_count(columns))

    def raw_labels(self, y: Any, rows: int) -> tf.Tensor:
        """Return labels in memory as the loss takes them.

        Args:
            y: what the user passed.
            rows: int, how many there must be.

        Raises:
            ValueError: for another number of rows or a label that the task does not know.
        """
        return label_column(y, self.labels, rows)

    def no_rows(self) -> np.ndarray:
        """Return what `predict` gives for no texts."""
        return np.zeros((0, *self.output_shape[1:]), dtype="float32")

    def class_numbers(self, class_weight: Mapping[Any, float]) -> dict[int, float]:
        """Return class weights by class number."""
        return dict(class_weight)

    def quantize(self, mode: str, **kwargs: Any) -> None:
        """Quantise the backbone's weights; the head, small and sensitive, keeps its precision.

        Args:
            mode: "int8" or another mode of `keras.Model.quantize`.
            **kwargs: further arguments of it.
        """
        self.backbone.quantize(mode, **kwargs)
        self.train_function = self.test_function = self.predict_function = None

    # ---- inside --------------------------------------------------------------------------------

    def _is_on_one_device(self) -> bool:
        is_alone = strategy_of_several(self) is None
        return is_alone and keras.distribution.distribution() is None

    def _strategy(self) -> Any:
        """Return TensorFlow's distribution strategy, None on other backends."""
        return getattr(self, "distribute_strategy", None)

    def _build_optimizer(self) -> None:
        """Make the optimizer's slots; TensorFlow traces a step that makes variables twice."""
        if self.compiled and not self.optimizer.built:
            strategy = self._strategy()
            with nullcontext() if strategy is None else strategy.scope():
                self.optimizer.build(self.trainable_variables)

    def _in_memory(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return checked columns and labels of data in memory; None for a dataset or generator."""
        if self.preprocessor is None:
            return feature_columns(x), y
        columns = self.raw_columns(x)
        if columns is not None and y is not None:
            y = self.raw_targets(y, columns)
        return columns, y

    def _validation_dataset(self, data: Any, batch_size: int | None) -> Any:
        if not isinstance(data, (tuple, list)):
            return data
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(tuple(data))
        columns, y = self._in_memory(x, y)
        if columns is None:
            return data
        return batched(columns, y, sample_weight, batch_size, shuffle=False)
