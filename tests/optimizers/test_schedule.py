import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.optimizers.schedule import WarmupLinearDecay


def rates(schedule, steps):
    return [float(ops.convert_to_numpy(schedule(step))) for step in steps]


def reference(step, peak=3e-4, warmup=7, total=23):
    """Hugging Face's `get_linear_schedule_with_warmup`, rewritten."""
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / (total - warmup))


def test_the_rate_rises_and_falls_linearly():
    schedule = WarmupLinearDecay(3e-4, warmup_steps=7, total_steps=23)
    expected = [reference(step) for step in range(26)]
    np.testing.assert_allclose(rates(schedule, range(26)), expected, rtol=1e-5, atol=1e-12)


def test_no_rise_and_nothing_but_rise():
    assert rates(WarmupLinearDecay(2.0, 0, 4), range(5)) == [2.0, 1.5, 1.0, 0.5, 0.0]
    assert rates(WarmupLinearDecay(2.0, 4, 4), range(5)) == [0.0, 0.5, 1.0, 1.5, 0.0]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "bfloat16"])
def test_any_number_is_a_step(dtype):
    schedule = WarmupLinearDecay(3e-4, warmup_steps=7, total_steps=23)
    rate = schedule(ops.cast(12, dtype))
    assert keras.backend.standardize_dtype(rate.dtype) == "float32"
    np.testing.assert_allclose(ops.convert_to_numpy(rate), reference(12), rtol=1e-5)


def test_an_optimizer_with_it_is_saved_and_loaded_in_a_compiled_model(tmp_path):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.Adam(WarmupLinearDecay(3e-4, 7, 23)), "mse")
    model.fit(np.ones((8, 5)), np.ones((8, 3)), batch_size=4, verbose=0)
    model.save(tmp_path / "model.keras")
    optimizer = keras.models.load_model(tmp_path / "model.keras").optimizer
    assert int(optimizer.iterations) == 2
    np.testing.assert_allclose(float(optimizer.learning_rate), reference(2), rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1, 2), "peak"),
        ((1e-3, 0, 0), "total_steps"),
        ((1e-3, 3, 2), "`warmup_steps` must lie between"),
        ((1e-3, -1, 2), "`warmup_steps` must lie between"),
    ],
)
def test_unfit_numbers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        WarmupLinearDecay(*arguments)
