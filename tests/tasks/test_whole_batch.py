import pytest
from batches_of_tasks import (
    LOSSES,
    check_same_gradients,
    check_same_history,
    check_same_weights,
    classes,
    crf_tags,
    fit,
    gradients_of,
    language_model_beside,
    pretraining,
    ready,
)
from keras import ops


@pytest.mark.parametrize(
    "loss",
    [
        pytest.param(classes, marks=pytest.mark.slow),
        pytest.param(language_model_beside, marks=pytest.mark.slow),
        pretraining,
        crf_tags,
    ],
    ids=lambda loss: loss.__name__,
)
def test_micro_batches_give_the_gradient_of_the_batch(loss):
    whole, history = fit(loss, 5)
    parts, of_parts = fit(loss, 5, micro_batches=2)
    check_same_gradients(gradients_of(parts), gradients_of(whole))
    check_same_history(of_parts, history)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("loss", [LOSSES[2], LOSSES[-1]], ids=lambda loss: loss.__name__)
def test_compiled_micro_batches_reach_the_weights_of_whole_batches(loss):
    # 7 rows in batches of 4: the second has 3, and is divided unevenly.
    whole, history = fit(loss, 7, 4)
    parts, of_parts = fit(loss, 7, 4, micro_batches=2)
    check_same_weights(parts, whole, loss)
    check_same_history(of_parts, history)


def test_weights_of_the_means_are_those_of_the_rows():
    task, x, y, weights = ready(language_model_beside, 5)
    task.compile()
    task.build_losses((x, y, weights))
    sums = {k: float(v) for k, v in task.loss_weights(x, y, ops.convert_to_tensor(weights)).items()}
    total = pytest.approx(float(weights.sum()), rel=1e-6)
    assert sums == {"rows": 5.0, "loss_0": total, "lm_loss": total}


def test_parts_are_counted():
    task = ready(classes, 3)[0]
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=f"micro_batches={wrong}"):
            task.accumulate(wrong)
