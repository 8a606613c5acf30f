import keras
import numpy as np
import pytest

from kerazoo.optimizers.adamw import BertAdamW, create_optimizer, decays
from kerazoo.optimizers.schedule import WarmupLinearDecay

OPTIONS = {"weight_decay": 0.3, "epsilon": 1e-6, "beta_1": 0.8, "beta_2": 0.95}
SCHEDULE = {"peak": 0.05, "warmup_steps": 2, "total_steps": 7}


def model():
    keras.utils.set_random_seed(5)
    inputs = keras.Input((7,), dtype="int32")
    states = keras.layers.Embedding(31, 12, name="token_embedding")(inputs)
    states = keras.layers.LayerNormalization(name="norm")(states)
    return keras.Model(inputs, keras.layers.Dense(3, name="head")(states))


def trained(optimizer_class, jit_compile=False, eager=False, **options):
    trained = model()
    optimizer = optimizer_class(WarmupLinearDecay(**SCHEDULE), **OPTIONS, **options)
    if optimizer_class is keras.optimizers.AdamW:
        kept = [v for v in trained.trainable_variables if not decays(v)]
        optimizer.exclude_from_weight_decay(var_list=kept)
    trained.compile(optimizer, "mse", jit_compile=jit_compile, run_eagerly=eager)
    rng = np.random.default_rng(3)
    # No token twice in a batch, as Keras squares its gradients one by one on TensorFlow.
    rows = np.concatenate([rng.permutation(31)[:28].reshape(4, 7) for _ in range(5)])
    trained.fit(rows, rng.normal(size=(20, 7, 3)), 4, shuffle=False, verbose=0)
    return [
        keras.ops.convert_to_numpy(v) for v in [*trained.variables, *trained.optimizer.variables]
    ]


def assert_same(ours, kerass):
    assert len(ours) == len(kerass)
    for a, b in zip(ours, kerass, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-7)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="in_a_graph"),
        pytest.param({"eager": True}, id="eagerly"),
        pytest.param({"jit_compile": keras.backend.backend() != "torch"}, id="compiled"),
        pytest.param({"global_clipnorm": 0.01}, id="clipped"),
    ],
)
def test_five_steps_are_those_of_keras(options):
    assert_same(trained(BertAdamW, **options), trained(keras.optimizers.AdamW, **options))


@pytest.mark.parametrize(
    "options",
    [
        {"amsgrad": True},
        {"use_ema": True, "ema_overwrite_frequency": 2},
        {"gradient_accumulation_steps": 2},
    ],
    ids=["amsgrad", "moving_average", "accumulated"],
)
def test_what_the_operation_lacks_is_computed_as_keras_does(options):
    assert_same(trained(BertAdamW, **options), trained(keras.optimizers.AdamW, **options))


def test_without_decay_it_is_adam():
    rows = np.random.default_rng(2).normal(size=(20, 7)).astype("float32")
    steps = []
    for optimizer in (create_optimizer(0.05, weight_decay=0.0), keras.optimizers.Adam(0.05)):
        optimizer.epsilon = 1e-3
        keras.utils.set_random_seed(5)
        dense = keras.Sequential([keras.Input((7,)), keras.layers.Dense(3)])
        dense.compile(optimizer, "mse")
        dense.fit(rows, rows[:, :3], 4, shuffle=False, verbose=0)
        steps.append(dense.get_weights())
    assert_same(*steps)


def test_weights_of_half_precision_are_stepped():
    variable = keras.Variable(np.full((5, 3), 2.0), dtype="float16", name="kernel")
    optimizer = BertAdamW(0.25, weight_decay=0.0)
    optimizer.apply([keras.ops.full((5, 3), 7.0, dtype="float16")], [variable])
    # The first step of Adam has the length of the rate.
    after = keras.ops.convert_to_numpy(keras.ops.cast(variable, "float32"))
    np.testing.assert_allclose(after, 1.75, rtol=2e-2)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="an operation of TensorFlow")
def test_a_step_is_one_operation_for_each_weight():
    import tensorflow as tf

    weights = model().trainable_variables
    optimizer = BertAdamW(0.1, global_clipnorm=1.0, **OPTIONS)
    optimizer.build(weights)
    step = tf.function(lambda: optimizer.apply([tf.ones(v.shape) for v in weights]))
    kinds = [operation.type for operation in step.get_concrete_function().graph.get_operations()]
    assert kinds.count("ResourceApplyAdam") == len(weights) == 5
    assert "Sqrt" not in kinds[kinds.index("ResourceApplyAdam") :]
