"""Steps whose loss and gradients are those of the whole batch, though parts of it are computed."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import keras
from keras import ops

from kerazoo.axes import Tensor
from kerazoo.checks import check_positive
from kerazoo.tasks.batch_part import ROWS, BatchPart, row_count
from kerazoo.tasks.compile_loss_parts import check_keras, loss_sums, losses_of_part
from kerazoo.tasks.replicas import replica_count

_STEPS = {
    "tensorflow": "kerazoo.tasks.steps_of_replicas",
    "jax": "kerazoo.tasks.steps_on_jax",
    "torch": "kerazoo.tasks.steps_on_torch",
}

# It goes before a Keras model, whose methods it calls, hence Any.
_ModelBase: Any = object


class WholeBatch(_ModelBase):
    """Losses, gradients and metrics of a batch that several devices, or several turns, compute.

    Keras takes the mean loss of each replica and then their mean, which is another number where the
    weights of the rows, or the rows, are not divided evenly. Here each mean of the loss is divided
    by the weights of the whole batch.

    Attributes:
        micro_batches: int, the parts of a batch, or of a replica's rows, that are computed one
            after the other; see `accumulate`.
    """

    micro_batches: int = 1
    _part: BatchPart | None = None

    def accumulate(self, micro_batches: int) -> None:
        """Compute the gradient of a batch in parts, one after the other, and then add them up.

        It needs the memory of one part, and the step is that of the whole batch.

        Args:
            micro_batches: int, parts; 1 is the batch as it is.

        Raises:
            ValueError: if it is no positive number.
        """
        check_positive("micro_batches", micro_batches)
        self.micro_batches = micro_batches
        self.train_function = None

    def loss_weights(self, x: Any, y: Any, sample_weight: Any = None) -> dict[str, Tensor]:
        """Return for each mean of the loss the weights that it is divided by, () float32.

        A task whose `compute_loss` has a mean of its own adds its weights, and passes the mean
        through `loss_term`.

        Args:
            x: the inputs of some rows.
            y: their targets.
            sample_weight: their weights, as `compute_loss` gets them.
        """
        rows = ops.cast(row_count(x), "float32")
        return {ROWS: rows, **loss_sums(self._compile_loss, sample_weight, rows)}

    def loss_term(self, name: str, mean: Tensor) -> Tensor:
        """Return what a mean of the loss, over the rows at hand, adds to the loss.

        Args:
            name: of its weights in `loss_weights`.
            mean: () float.
        """
        if self._part is not None:
            mean = mean * self._part.factor(name)
        # Under `tf.distribute` Keras divides each loss by the number of replicas, here too.
        return super()._aggregate_additional_loss(mean)

    @property
    def rows_of_mean(self) -> Any:
        """What the means at hand count in a mean over batches; None if it is their rows."""
        return None if self._part is None else self._part.rows_of_mean

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """Return the loss of rows; of a part so that the mean over parts is the whole's."""
        rows = (x, y, y_pred, sample_weight, training)
        if self._part is None:
            return super().compute_loss(*rows)
        with losses_of_part(self._compile_loss, self._part, y_pred):
            return super().compute_loss(*rows)

    def _aggregate_additional_loss(self, loss: Tensor) -> Tensor:
        """Return what a penalty adds, which does not depend on the rows."""
        return self.loss_term(ROWS, loss)

    @contextmanager
    def computed_as(
        self, weights: Mapping[str, Tensor], whole: Mapping[str, Tensor], count: Any
    ) -> Iterator[BatchPart]:
        """Compute the loss as that of a part while the block runs; see `BatchPart`."""
        self._part = BatchPart(weights, whole, count)
        try:
            yield self._part
        finally:
            self._part = None

    def build_losses(self, data: Any) -> None:
        """Make what losses and metrics keep, before a step is traced that computes parts."""
        check_keras()
        compile_loss = self._compile_loss
        if compile_loss is not None and not compile_loss.built:
            self._symbolic_build(data_batch=data)

    def train_step(self, *arguments: Any) -> Any:
        """Train on a batch; see `keras.Model.train_step` of each backend."""
        if replica_count() == self.micro_batches == 1:
            return super().train_step(*arguments)
        steps = importlib.import_module(_STEPS[keras.config.backend()])
        return steps.train_step(self, *arguments)

    def test_step(self, *arguments: Any) -> Any:
        """Measure a batch; see `keras.Model.test_step` of each backend."""
        if replica_count() == 1:
            return super().test_step(*arguments)
        from kerazoo.tasks.steps_of_replicas import test_step

        return test_step(self, *arguments)

    def predict_step(self, *arguments: Any) -> Any:
        """Compute the outputs of a batch; see `keras.Model.predict_step` of each backend."""
        if keras.distribution.distribution() is not None:
            from kerazoo.tasks.rows_on_jax import on_every_device

            outputs, state = super().predict_step(*arguments)
            return on_every_device(outputs), state
        if replica_count() == 1:
            return super().predict_step(*arguments)
        from kerazoo.tasks.steps_of_replicas import at_least_a_row, first_rows

        (data,) = arguments
        return first_rows(super().predict_step(at_least_a_row(data)), row_count(data))
