import keras
import numpy as np
import pytest

from kerazoo.optimizers.adamw import create_optimizer, decays
from kerazoo.optimizers.schedule import WarmupLinearDecay


def small_model():
    inputs = keras.Input((7,), dtype="int32")
    states = keras.layers.Embedding(31, 20, name="token_embedding")(inputs)
    states = keras.layers.LayerNormalization(name="norm")(states)
    states = keras.layers.EinsumDense("bsh,hnd->bsnd", (None, 4, 5), bias_axes="nd", name="query")(
        states
    )
    return keras.Model(inputs, keras.layers.Dense(3, name="classifier")(states))


def step(optimizer, variables, gradient):
    gradients = [keras.ops.full(v.shape, gradient) for v in variables]
    optimizer.apply(gradients, variables)


def test_only_kernels_and_embeddings_decay():
    decayed = [v.path for v in small_model().trainable_variables if decays(v)]
    assert decayed == ["token_embedding/embeddings", "query/kernel", "classifier/kernel"]


def test_a_step_without_gradient_moves_only_what_decays():
    model = small_model()
    variables = model.trainable_variables
    for variable in variables:
        variable.assign(keras.ops.ones(variable.shape))
    step(create_optimizer(0.1, weight_decay=0.2), variables, 0.0)
    after = {v.path: np.unique(keras.ops.convert_to_numpy(v)) for v in variables}
    for variable in variables:
        expected = 1 - 0.1 * 0.2 if decays(variable) else 1
        np.testing.assert_allclose(after[variable.path], expected, rtol=1e-6)


def test_a_loaded_optimizer_decays_the_same(tmp_path):
    model = small_model()
    model.compile(create_optimizer(WarmupLinearDecay(0.1, 1, 9), weight_decay=0.2), "mse")
    model.optimizer.build(model.trainable_variables)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(loaded.optimizer.learning_rate, object)
    before = {v.path: keras.ops.convert_to_numpy(v) for v in loaded.trainable_variables}
    for _ in range(2):
        step(loaded.optimizer, loaded.trainable_variables, 0.0)
    moved = [
        v.path
        for v in loaded.trainable_variables
        if np.abs(before[v.path] - keras.ops.convert_to_numpy(v)).max() > 0
    ]
    assert moved == ["token_embedding/embeddings", "query/kernel", "classifier/kernel"]


def test_the_gradient_over_all_weights_is_clipped():
    variables = [keras.Variable(np.zeros(shape, "float32")) for shape in [(3, 4), (13,)]]
    optimizer = create_optimizer(0.1, clip_norm=2.0)
    step(optimizer, variables, 5.0)
    momenta = np.concatenate(
        [np.ravel(keras.ops.convert_to_numpy(m)) for m in optimizer._momentums]
    )
    # The first momentum is (1 - beta_1) times the clipped gradient.
    np.testing.assert_allclose(np.linalg.norm(momenta), 0.1 * 2.0, rtol=1e-5)


@pytest.mark.parametrize("name", ["weight_decay", "clip_norm"])
def test_negative_numbers_are_refused(name):
    with pytest.raises(ValueError, match=f"`{name}` must not be negative"):
        create_optimizer(0.1, **{name: -0.1})


def test_it_is_of_the_class_that_this_backend_has():
    assert isinstance(create_optimizer(0.1), type(keras.optimizers.AdamW(0.1)))


def test_biases_alone_are_trained_without_decay():
    bias = keras.Variable(np.full((5,), 2.0), name="bias")
    step(create_optimizer(0.25, weight_decay=0.5), [bias], 7.0)
    # The first step of Adam has the length of the rate.
    np.testing.assert_allclose(keras.ops.convert_to_numpy(bias), 1.75, rtol=1e-5)
