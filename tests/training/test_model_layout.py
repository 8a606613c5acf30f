import keras
import numpy as np
import pytest
from keras import ops

pytestmark = pytest.mark.skipif(keras.config.backend() != "jax", reason="of JAX")


def shard_shapes(backbone):
    """The shapes of the first shards of variables."""
    return {v.path: v.value.addressable_shards[0].data.shape for v in backbone.variables}


@pytest.fixture
def layout():
    from kerazoo.training.model_layout import ModelLayout

    return ModelLayout.of(keras.distribution.list_devices()[:2])


def test_heads_units_and_tokens_are_divided(layout, make_tiny_backbone):
    with layout.scope():
        backbone = make_tiny_backbone(vocabulary_size=32)
    shapes = shard_shapes(backbone)
    layer = "layer_1"
    found = {path: shape for path, shape in shapes.items() if layer in path}
    assert found[f"{layer}/attention/query/kernel"] == (20, 10)
    assert found[f"{layer}/attention/value/bias"] == (10,)
    assert found[f"{layer}/attention/attention_output/kernel"] == (10, 20)
    assert found[f"{layer}/feed_forward/intermediate/kernel"] == (20, 12)
    assert found[f"{layer}/feed_forward/feed_forward_output/kernel"] == (12, 20)
    assert found[f"{layer}/feed_forward/feed_forward_output/bias"] == (20,)
    assert shapes["embeddings/token_embedding/embeddings"] == (16, 20)


def test_what_does_not_divide_evenly_is_everywhere(layout, make_tiny_backbone):
    with layout.scope():
        backbone = make_tiny_backbone(vocabulary_size=31)
    assert shard_shapes(backbone)["embeddings/token_embedding/embeddings"] == (31, 20)


def test_a_divided_model_computes_the_same(layout, make_tiny_gpt):
    ids = {"token_ids": np.array([[5, 9, 11], [7, 3, 0]]), "padding_mask": np.ones((2, 3), "int32")}
    alone = make_tiny_gpt()(ids)["sequence_output"]
    with layout.scope():
        divided = make_tiny_gpt()
        outputs = divided(ids)["sequence_output"]
    assert shard_shapes(divided)["layer_0/attention/key/bias"] == (10,)
    np.testing.assert_allclose(
        ops.convert_to_numpy(outputs), ops.convert_to_numpy(alone), rtol=1e-5, atol=1e-5
    )
