import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.tasks.pooled_output import pooled_and_sequence_output, train_pooler


class Stub:
    """Stands in for an encoder: gives back what it was made with."""

    dtype_policy = "float32"

    def __init__(self, outputs):
        self.outputs = outputs

    def __call__(self, inputs):
        return self.outputs


@pytest.fixture
def sequence():
    return np.random.default_rng(0).normal(size=(3, 7, 5)).astype("float32")


def test_the_backbones_own_vector_or_else_the_first_state(sequence):
    own = sequence[:, 3]
    both = Stub({"sequence_output": sequence, "pooled_output": own})
    pooled, states = pooled_and_sequence_output(both, {})
    np.testing.assert_array_equal(pooled, own)
    np.testing.assert_array_equal(states, sequence)
    for outputs in (sequence, {"sequence_output": sequence}):
        np.testing.assert_array_equal(
            pooled_and_sequence_output(Stub(outputs), {})[0], sequence[:, 0]
        )


def test_mean_of_the_real_tokens(sequence):
    mask = np.ones((3, 7), "int32")
    mask[0, 2:] = 0
    both = Stub({"sequence_output": sequence, "pooled_output": sequence[:, 3]})
    mean, _ = pooled_and_sequence_output(both, {"padding_mask": mask}, pooling="mean")
    mean = ops.convert_to_numpy(mean)
    np.testing.assert_allclose(mean[0], sequence[0, :2].mean(0), atol=1e-6)
    np.testing.assert_allclose(mean[1:], sequence[1:].mean(1), atol=1e-6)


def test_outputs_without_a_sequence_are_refused():
    with pytest.raises(ValueError, match="Received: backbone=Sequential"):
        pooled_and_sequence_output(
            keras.Sequential([keras.layers.Dense(3)]), np.zeros((3, 7), "float32")
        )
    with pytest.raises(ValueError, match="Received: pooling='max'"):
        pooled_and_sequence_output(Stub(None), {}, pooling="max")


def test_the_pooler_trains_where_it_is_read(make_tiny_backbone):
    backbone = make_tiny_backbone()
    train_pooler(backbone, is_read=False)
    assert not backbone.pooler.trainable
    train_pooler(backbone, is_read=True)
    assert backbone.pooler.trainable
    backbone.enable_lora(2)
    train_pooler(backbone, is_read=True)
    assert not backbone.pooler.trainable  # LoRA froze it
    train_pooler(Stub(sequence), is_read=True)
