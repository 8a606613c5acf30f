import keras
import numpy as np
import pytest

from kerazoo.analysis.block_runner import BlockRunner
from kerazoo.backbones.base import attention_of_block, call_block


def rows(batch, length, seed):
    generator = np.random.default_rng(seed)
    mask = np.arange(length) < generator.integers(2, length + 1, batch)[:, np.newaxis]
    ids = generator.integers(4, 29, (batch, length)).astype("int32")
    mask = mask.astype("int32")
    return {"token_ids": ids, "segment_ids": np.zeros_like(ids), "padding_mask": mask}


def as_arrays(tensors):
    return [keras.ops.convert_to_numpy(tensor) for tensor in tensors]


@pytest.fixture
def compilations(monkeypatch):
    from kerazoo.analysis import block_runner

    original, seen = block_runner._compiled, []
    monkeypatch.setattr(
        block_runner, "_compiled", lambda *given: seen.append(given) or original(*given)
    )
    return seen


def test_layers_of_one_kind_share_what_is_compiled_and_keep_their_weights(sharp_bert, compilations):
    backbone, _ = sharp_bert
    run_block = BlockRunner()
    for seed, (batch, length) in enumerate([(3, 7)] * 3 + [(2, 9)] * 7):
        inputs = rows(batch, length, seed)
        expected = as_arrays(backbone.attention_by_layer(inputs))
        found = as_arrays(backbone.attention_by_layer(inputs, run_block))
        assert len(found) == 3
        for own, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(own, theirs, atol=1e-5)
    # On TensorFlow as graphs, and then for the shape that comes often.
    times = {"tensorflow": 2, "jax": 1, "torch": 0}[keras.config.backend()]
    kinds = [function for function, *_ in compilations]
    assert kinds == [call_block, attention_of_block] * times


def test_a_layer_with_further_weights_is_compiled_for_itself(make_sharp_gpt, compilations):
    backbone, _ = make_sharp_gpt()
    backbone.transformer_layers[1].attention.query.enable_lora(2)
    backbone.transformer_layers[1].attention.query.lora_kernel_b.assign(
        np.full(backbone.transformer_layers[1].attention.query.lora_kernel_b.shape, 0.3)
    )
    inputs, run_block = rows(3, 7, 1), BlockRunner()
    del inputs["segment_ids"]
    expected = as_arrays(backbone.hidden_states(inputs))
    for _ in range(3):
        found = as_arrays(backbone.hidden_states(inputs, run_block))
    for own, theirs in zip(found, expected, strict=True):
        # States of GPT-2, which have no norm, are up to 30: relative to them float32 ends at 1e-7.
        np.testing.assert_allclose(own, theirs, rtol=1e-6, atol=1e-5)
    eager = keras.config.backend() == "torch"
    assert len(compilations) == (0 if eager else 2)


def test_a_changed_weight_is_used(sharp_bert):
    layer = sharp_bert[0].transformer_layers[1]
    run_block = BlockRunner()
    states = np.random.default_rng(1).normal(size=(2, 5, layer.hidden_dim)).astype("float32")
    mask = np.ones((2, 5), "int32")
    bias = layer.feed_forward_layer_norm.beta
    before = bias.value
    for _ in range(3):
        states_before, _ = run_block(call_block, layer, states, mask)
    bias.assign(before + 0.25)
    changed, _ = run_block(call_block, layer, states, mask)
    expected, _ = call_block(layer, states, mask)
    bias.assign(before)
    changed, states_before, expected = as_arrays([changed, states_before, expected])
    np.testing.assert_allclose(changed, expected, atol=1e-5)
    np.testing.assert_allclose(changed - states_before, 0.25, atol=1e-5)


@pytest.mark.tensorflow
def test_many_shapes_are_not_traced_again_and_again(sharp_bert, caplog):
    backbone, _ = sharp_bert
    run_block = BlockRunner()
    for length in (5, 7, 9, 11, 13):
        for _ in range(9):
            for _ in backbone.attention_by_layer(rows(2, length, 1), run_block):
                pass
    # A graph for all shapes, and a program for each.
    assert len(run_block._compiled) == 2 * (1 + 5)
    assert "retracing" not in caplog.text
