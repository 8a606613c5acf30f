import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.tasks import compile_loss_parts
from kerazoo.tasks.batch_part import BatchPart
from kerazoo.tasks.compile_loss_parts import check_keras, loss_sums, losses_of_part

Y = {"a": np.array([[1.0], [3.0]], "float32"), "b": np.array([[2.0], [5.0]], "float32")}
PREDICTED = {"a": ops.zeros((2, 1)), "b": ops.ones((2, 1))}
WEIGHTS = {"a": ops.convert_to_tensor([0.5, 4.0]), "b": ops.convert_to_tensor([3.0, 1.0])}


def container(**losses):
    losses = {name: keras.losses.MeanSquaredError(reduction=r) for name, r in losses.items()}
    found = keras.src.trainers.compile_utils.CompileLoss(losses, output_names=list(losses))
    found.build(Y, PREDICTED)
    return found


def test_only_weighted_means_are_divided_by_weights():
    losses = container(a="mean_with_sample_weight", b="sum_over_batch_size")
    sums = loss_sums(losses, WEIGHTS, ops.convert_to_tensor(2.0))
    assert {name: float(value) for name, value in sums.items()} == {"loss_0": 4.5, "loss_1": 2.0}
    assert loss_sums(None, WEIGHTS, ops.convert_to_tensor(2.0)) == {}


def test_each_loss_is_taken_times_its_factor():
    losses = container(a="mean_with_sample_weight", b="sum")
    before = losses._flat_losses
    whole = {"loss_0": ops.convert_to_tensor(9.0), "loss_1": ops.convert_to_tensor(4.0)}
    weights = {"loss_0": ops.convert_to_tensor(4.5), "loss_1": ops.convert_to_tensor(2.0)}
    rows = {"rows": ops.convert_to_tensor(4.0)}
    part = BatchPart({**weights, "rows": ops.convert_to_tensor(2.0)}, {**whole, **rows}, 2)
    a, b = (0.5 * 1 + 4 * 9) / 4.5, 3.0 * 1 + 1.0 * 16
    with losses_of_part(losses, part, PREDICTED):
        # Half of the weights of two parts, and a sum that is a part of the sum.
        assert float(losses(Y, PREDICTED, WEIGHTS)) == pytest.approx(a + 2 * b, rel=1e-6)
    assert losses._flat_losses == before


def test_another_keras_is_refused(monkeypatch):
    check_keras()
    monkeypatch.setattr(
        compile_loss_parts.keras.src.trainers.compile_utils, "CompileLoss", lambda loss: object()
    )
    with pytest.raises(NotImplementedError, match="install keras 3.15. Received: keras="):
        check_keras()
