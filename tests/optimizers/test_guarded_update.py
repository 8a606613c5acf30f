import keras
import numpy as np
import pytest

from kerazoo.optimizers.adamw import BertAdamW, create_optimizer

ROWS = np.random.default_rng(0).normal(size=(20, 3)).astype("float32")
TARGETS = np.ones((20, 2), "float32")


def make(on_non_finite, clip_norm=1.0):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(2)])
    model.compile(create_optimizer(0.1, 0.01, clip_norm, on_non_finite), "mse")
    return model


def fit(model, rows=ROWS, epochs=1):
    model.fit(rows, TARGETS[: len(rows)], 4, shuffle=False, epochs=epochs, verbose=0)
    return model


def state(model):
    return [keras.ops.convert_to_numpy(v) for v in [*model.variables, *model.optimizer.variables]]


def counters(model):
    optimizer = model.optimizer
    names = (optimizer.non_finite_steps, optimizer.non_finite_step, optimizer.iterations)
    return [int(keras.ops.convert_to_numpy(variable)) for variable in names]


def spoiled(*rows):
    spoiled = ROWS.copy()
    for row, value in zip(rows, (np.nan, np.inf), strict=False):
        spoiled[row, 1] = value
    return spoiled


@pytest.mark.parametrize(("on_non_finite", "clip_norm"), [("stop", 0.5), ("skip", 0.0)])
def test_finite_gradients_are_not_changed(on_non_finite, clip_norm):
    plain, guarded = (fit(make(how, clip_norm)) for how in (None, on_non_finite))
    assert counters(guarded) == [0, 0, 5]
    for a, b in zip(plain.get_weights(), guarded.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.compiled
def test_after_a_bad_step_weights_and_slots_stay_as_they_were():
    before = fit(make("stop"), ROWS[:8])
    after = fit(make("stop"), spoiled(9))
    assert counters(after) == [1, 3, 5]
    assert len(state(before)) > 10
    for variable, a, b in zip(
        [*before.variables, *before.optimizer.variables], state(before), state(after), strict=True
    ):
        if variable.name not in ("iteration", "non_finite_steps", "non_finite_step"):
            np.testing.assert_array_equal(a, b, err_msg=variable.path)


def test_bad_steps_are_left_out():
    model = fit(make("skip"), spoiled(9, 17))
    assert counters(model) == [2, 5, 5]
    others = make("skip")
    others.optimizer.build(others.trainable_variables)
    for first in (0, 4, 8, 12):
        if first == 8:
            others.optimizer.iterations.assign_add(1)
        else:
            others.train_on_batch(ROWS[first : first + 4], TARGETS[:4])
    for a, b in zip(model.get_weights(), others.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_gradient_too_long_to_measure_is_not_finite():
    model = make("skip")
    variables = model.trainable_variables
    model.optimizer.build(variables)
    before = model.get_weights()
    model.optimizer.apply([keras.ops.full(v.shape, 1e30) for v in variables])
    assert counters(model) == [1, 1, 1]
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_unknown_choice_is_refused():
    with pytest.raises(ValueError, match="on_non_finite='wait'"):
        create_optimizer(0.1, on_non_finite="wait")


def fit_together(strategy, on_non_finite, rows):
    with strategy.scope():
        model = make(on_non_finite)
    return fit(model, rows)


def values_on_each(variables):
    return [[part.numpy() for part in variable.value.values] for variable in variables]


@pytest.mark.tensorflow
@pytest.mark.compiled
@pytest.mark.slow
def test_replicas_leave_out_the_same_steps(mirrored_strategy):
    # Row 9 is in the half of the first replica, and the second one's gradient is finite.
    model = fit_together(mirrored_strategy, "skip", spoiled(9))
    assert counters(model) == [1, 3, 5]
    others = fit_together(mirrored_strategy, "skip", np.delete(ROWS, slice(8, 12), 0))
    assert counters(others) == [0, 0, 4]
    variables = [*model.trainable_variables, *model.optimizer.variables[2:]]
    for variable, (one, two) in zip(variables, values_on_each(variables), strict=True):
        np.testing.assert_array_equal(one, two, err_msg=variable.path)
        assert np.isfinite(one).all()


@pytest.mark.tensorflow
@pytest.mark.compiled
@pytest.mark.slow
def test_replicas_stop_together_where_they_were(mirrored_strategy):
    before = fit_together(mirrored_strategy, "stop", ROWS[:8])
    after = fit_together(mirrored_strategy, "stop", spoiled(11))
    assert counters(after) == [1, 3, 5]
    for a, b in zip(before.get_weights(), after.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.tensorflow
@pytest.mark.compiled
@pytest.mark.slow
def test_replicas_reach_the_weights_of_one(mirrored_strategy):
    # Keras's own would clip the gradients of each replica, and reach others.
    alone = fit(make("skip"))
    for guard in ("skip", None):
        together = fit_together(mirrored_strategy, guard, ROWS)
        for a, b in zip(together.get_weights(), alone.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("on_non_finite", [None, "stop"])
@pytest.mark.parametrize("clip_norm", [0.0, 0.01])
def test_a_token_that_stands_twice_counts_with_the_sum_of_its_gradients(on_non_finite, clip_norm):
    # TensorFlow gives a row for each time; to square or to measure them one by one is wrong.
    layer = keras.layers.Embedding(5, 3)
    model = keras.Sequential([keras.Input((4,), dtype="int32"), layer])
    optimizer = create_optimizer(0.1, 0.0, clip_norm, on_non_finite)
    model.compile(optimizer, "mse")
    layer.set_weights([np.zeros((5, 3))])
    model.fit(np.array([[2, 2, 2, 4]]), np.full((1, 4, 3), 1.0), 1, verbose=0)
    gradient = np.zeros((5, 3))
    gradient[[2, 4]] = np.array([[3], [1]]) * -2 / 12
    if clip_norm:
        gradient *= clip_norm / np.linalg.norm(gradient)
    first, second = (
        keras.ops.convert_to_numpy(moments[0])
        for moments in (optimizer._momentums, optimizer._velocities)
    )
    np.testing.assert_allclose(first, 0.1 * gradient, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(second, 0.001 * gradient**2, rtol=1e-4, atol=1e-9)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "options", [{"amsgrad": True}, {"use_ema": True}, {"gradient_accumulation_steps": 3}]
)
def test_what_cannot_stand_still_is_refused(options):
    optimizer = BertAdamW(0.1, **options)
    optimizer.guard("skip")
    with pytest.raises(ValueError, match=r"task.accumulate\(n\).*" + next(iter(options))):
        optimizer.build([keras.Variable(np.zeros((4, 3)))])


def test_other_ways_to_clip_are_keras_own():
    optimizer = BertAdamW(0.1, clipvalue=0.25)
    optimizer.guard("skip")
    variable = keras.Variable(np.zeros((4, 3)))
    optimizer.apply([keras.ops.full((4, 3), 5.0)], [variable])
    momentum = keras.ops.convert_to_numpy(optimizer._momentums[0])
    np.testing.assert_allclose(momentum, 0.1 * 0.25, rtol=1e-6)


@pytest.mark.parametrize("on_non_finite", [None, "stop"])
def test_a_scaled_loss_is_clipped_as_if_it_were_not_scaled(on_non_finite):
    optimizer = create_optimizer(0.1, 0.0, clip_norm=2.0, on_non_finite=on_non_finite)
    optimizer.loss_scale_factor = 8.0
    variable = keras.Variable(np.zeros((4, 3)))
    optimizer.apply([keras.ops.full((4, 3), 8.0)], [variable])
    # The gradient of the loss itself is 1 everywhere: its norm is the root of 12.
    momentum = keras.ops.convert_to_numpy(optimizer._momentums[0])
    np.testing.assert_allclose(momentum, 0.1 * 2 / np.sqrt(12), rtol=1e-5)
