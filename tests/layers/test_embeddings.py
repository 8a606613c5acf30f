import numpy as np
import pytest
from keras import ops

from kerazoo.layers.embeddings import TransformerEmbeddings

SIZES = {"vocabulary_size": 31, "hidden_dim": 20, "max_sequence_length": 11, "num_segments": 3}


@pytest.fixture
def inputs():
    random = np.random.default_rng(2)
    return random.integers(31, size=(3, 7)), random.integers(3, size=(3, 7))


def test_adds_three_embeddings_and_normalises(inputs):
    layer = TransformerEmbeddings(**SIZES, layer_norm_epsilon=0.2)
    output = ops.convert_to_numpy(layer(*inputs))
    weights = {w.path.split("/", 1)[1]: ops.convert_to_numpy(w) for w in layer.weights}
    token_ids, segment_ids = inputs
    total = (
        weights["token_embedding/embeddings"][token_ids]
        + weights["segment_embedding/embeddings"][segment_ids]
        + weights["position_embedding/embeddings"][:7]
    )
    mean, variance = total.mean(-1, keepdims=True), total.var(-1, keepdims=True)
    np.testing.assert_allclose(output, (total - mean) / np.sqrt(variance + 0.2), atol=1e-5)


def test_input_longer_than_the_positions_is_refused():
    layer = TransformerEmbeddings(**SIZES)
    ids = np.zeros((2, 12), "int32")
    with pytest.raises(ValueError, match=r"11 positions.*shape \(2, 12\)"):
        layer(ids, ids)


def test_dropout_only_in_training(inputs):
    layer = TransformerEmbeddings(**SIZES, dropout=0.5)
    calm = ops.convert_to_numpy(layer(*inputs, training=False))
    assert np.abs(ops.convert_to_numpy(layer(*inputs, training=True)) - calm).max() > 1e-3


def test_config_round_trip():
    layer = TransformerEmbeddings(**SIZES, dropout=0.3)
    assert TransformerEmbeddings.from_config(layer.get_config()).get_config() == layer.get_config()


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match=r"Received: rows of position_embedding=0"):
        TransformerEmbeddings(**{**SIZES, "max_sequence_length": 0})


@pytest.fixture
def plain():
    layer = TransformerEmbeddings(**{**SIZES, "num_segments": 0}, layer_norm_epsilon=None)
    layer.build((None, None))
    return layer


def test_without_segments_and_layer_norm_it_is_a_sum(plain, inputs):
    token_ids, _ = inputs
    tokens, positions = (ops.convert_to_numpy(weight) for weight in plain.weights)
    assert (tokens.shape, positions.shape) == ((31, 20), (11, 20))
    output = ops.convert_to_numpy(plain(token_ids))
    np.testing.assert_allclose(output, tokens[token_ids] + positions[:7], atol=1e-6)
    copy = TransformerEmbeddings.from_config(plain.get_config())
    assert copy.get_config() == plain.get_config()


@pytest.mark.parametrize("shape", [(7,), (3, 7)])
def test_positions_may_be_given(plain, inputs, shape):
    token_ids, _ = inputs
    tokens, positions = (ops.convert_to_numpy(weight) for weight in plain.weights)
    numbers = np.random.default_rng(5).integers(11, size=shape).astype("int32")
    output = ops.convert_to_numpy(plain(token_ids, positions=numbers))
    np.testing.assert_allclose(output, tokens[token_ids] + positions[numbers], atol=1e-6)
