import math

import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.masked_lm_head import MaskedLMHead

BATCH, SEQ, HIDDEN, VOCABULARY, MASKS = 3, 7, 20, 31, 4
POSITIONS = np.array([[1, 3, 6, 0], [2, 5, 0, 0], [0, 0, 6, 6]], "int32")


def make_head(dtype="float32", **arguments):
    embedding = keras.layers.ReversibleEmbedding(VOCABULARY, HIDDEN, dtype=dtype)
    embedding.build((None, None))
    head = MaskedLMHead(embedding, dtype=dtype, name="masked_lm", **arguments)
    head.build((None, SEQ, HIDDEN), (None, MASKS))
    random = np.random.default_rng(5)
    for weight in head.weights:
        weight.assign(random.normal(0.1, 0.7, weight.shape))
    return head


@pytest.fixture(scope="module")
def head():
    return make_head(layer_norm_epsilon=1e-3)


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(3).normal(size=(BATCH, SEQ, HIDDEN)).astype("float32")


def expected_logits(head, states, activation):
    """The formula, written out in float64, at every position; then the chosen ones."""
    weights = {
        weight.path: ops.convert_to_numpy(weight).astype("float64") for weight in head.weights
    }
    named = {path.split("masked_lm/")[-1]: value for path, value in weights.items()}
    matrix = ops.convert_to_numpy(head.token_embedding.embeddings).astype("float64")
    hidden = activation(states @ named["dense/kernel"] + named["dense/bias"])
    centred = hidden - hidden.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    normal = centred / np.sqrt(variance + head.layer_norm_epsilon)
    normal = normal * named["layer_norm/gamma"] + named["layer_norm/beta"]
    everywhere = normal @ matrix.T + named["bias"]
    return np.take_along_axis(everywhere, POSITIONS[:, :, None], axis=1)


def exact_gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def tanh_gelu(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def test_logits_of_the_chosen_positions(head, states):
    logits = ops.convert_to_numpy(head(states, POSITIONS))
    assert logits.shape == (BATCH, MASKS, VOCABULARY)
    np.testing.assert_allclose(logits, expected_logits(head, states, exact_gelu), atol=2e-5)


@pytest.mark.parametrize(
    ("activation", "function"),
    [("gelu_approximate", tanh_gelu), ("relu", lambda x: np.maximum(x, 0))],
)
def test_the_activation_is_that_of_the_config(states, activation, function):
    head = make_head(activation=activation)
    logits = ops.convert_to_numpy(head(states, POSITIONS))
    np.testing.assert_allclose(logits, expected_logits(head, states, function), atol=2e-5)


def test_the_matrix_is_tied_and_counted_once(head):
    assert sum(weight.shape == (VOCABULARY, HIDDEN) for weight in head.weights) == 1
    assert any(weight is head.token_embedding.embeddings for weight in head.weights)
    assert {weight.path.removeprefix("masked_lm/") for weight in head.weights} >= {
        *("dense/kernel", "dense/bias", "layer_norm/gamma", "layer_norm/beta", "bias"),
    }


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "bfloat16"])
def test_logits_are_float32_under_every_policy(states, dtype):
    head = make_head(dtype)
    head.bias.assign(np.full(VOCABULARY, 1000.0))
    shift = np.arange(VOCABULARY) / 8  # bfloat16 cannot hold 1000.125
    if dtype == "mixed_bfloat16":
        head.bias.assign(1000 + shift)
    logits = head(ops.cast(states, "bfloat16"), POSITIONS)
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    without_bias = make_head(dtype)
    without_bias.bias.assign(np.zeros(VOCABULARY))
    without_bias = ops.convert_to_numpy(without_bias(ops.cast(states, "bfloat16"), POSITIONS))
    added = ops.convert_to_numpy(logits) - without_bias
    wanted = 1000 + (shift if dtype == "mixed_bfloat16" else 0 * shift)
    np.testing.assert_allclose(added, np.broadcast_to(wanted, added.shape), atol=1e-3)


def test_a_functional_graph_knows_shape_and_dtype(head):
    hidden = keras.Input((None, HIDDEN))
    positions = keras.Input((None,), dtype="int32")
    logits = head(hidden, positions)
    assert logits.shape == (None, None, VOCABULARY)
    assert logits.dtype == "float32"
    model = keras.Model([hidden, positions], logits)
    for seq, masks in ((SEQ, MASKS), (SEQ - 2, 1)):
        states = np.ones((2, seq, HIDDEN), "float32")
        chosen = np.full((2, masks), seq - 1, "int32")
        assert ops.shape(model([states, chosen])) == (2, masks, VOCABULARY)


@pytest.mark.tensorflow
def test_logits_are_never_computed_at_all_positions(head):
    """No tensor of the traced graph has the vocabulary at every position, and none needs XLA."""
    import tensorflow as tf

    @tf.function
    def run(states, positions):
        return head(states, positions)

    graph = run.get_concrete_function(
        tf.TensorSpec((5, 13, HIDDEN)), tf.TensorSpec((5, 2), tf.int32)
    ).graph
    sizes = [t.shape.num_elements() for node in graph.get_operations() for t in node.outputs]
    assert max(size for size in sizes if size) == max(5 * 13 * HIDDEN, VOCABULARY * HIDDEN)
    assert not [node.type for node in graph.get_operations() if "Xla" in node.type]


def test_a_saved_config_makes_the_same_head(head, states):
    config = keras.saving.serialize_keras_object(head)
    copy = keras.saving.deserialize_keras_object(config)
    copy.token_embedding.build((None, None))
    if not copy.built:
        copy.build((None, SEQ, HIDDEN), (None, MASKS))
    assert copy.get_config() == head.get_config()
    for mine, theirs in zip(copy.weights, head.weights, strict=True):
        mine.assign(theirs)
    copied, original = (ops.convert_to_numpy(h(states, POSITIONS)) for h in (copy, head))
    np.testing.assert_allclose(copied, original, atol=1e-6)


def test_an_embedding_without_a_way_back_is_refused():
    with pytest.raises(
        ValueError, match="ReversibleEmbedding. Received: token_embedding=Embedding"
    ):
        MaskedLMHead(keras.layers.Embedding(VOCABULARY, HIDDEN))
