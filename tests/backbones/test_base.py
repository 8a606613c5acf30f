import json

import keras
import numpy as np
import pytest
from batches_of_tasks import (
    check_same_history,
    check_same_weights,
    fit,
    next_tokens,
    pretraining,
)
from keras import ops

from kerazoo.backbones.base import quantized_dtype
from kerazoo.backbones.bert import BertBackbone
from kerazoo.backbones.gpt import GPTBackbone


@pytest.fixture(scope="module")
def inputs():
    random = np.random.default_rng(4)
    mask = np.ones((3, 7), "int32")
    mask[1, 5:] = 0
    return {
        "token_ids": random.integers(31, size=(3, 7)).astype("int32"),
        "segment_ids": random.integers(2, size=(3, 7)).astype("int32"),
        "padding_mask": mask,
    }


def outputs(backbone, inputs):
    return {key: ops.convert_to_numpy(value) for key, value in backbone(inputs).items()}


def test_hidden_states_begin_with_the_embeddings_and_end_with_the_output(tiny_backbone, inputs):
    states = tiny_backbone.hidden_states(inputs)
    assert len(states) == 3
    assert {tuple(state.shape) for state in states} == {(3, 7, 20)}
    np.testing.assert_array_equal(
        ops.convert_to_numpy(states[0]), ops.convert_to_numpy(tiny_backbone.embed(inputs))
    )
    np.testing.assert_allclose(
        ops.convert_to_numpy(states[-1]),
        outputs(tiny_backbone, inputs)["sequence_output"],
        atol=1e-6,
    )


def test_attention_scores_of_chosen_layers(tiny_backbone, inputs):
    every = [ops.convert_to_numpy(scores) for scores in tiny_backbone.attention_scores(inputs)]
    assert [scores.shape for scores in every] == [(3, 4, 7, 7)] * 2
    for scores in every:
        np.testing.assert_allclose(scores.sum(-1), 1, atol=1e-5)
        assert scores[1, :, :, 5:].max() == 0
    assert np.abs(every[0] - every[1]).max() > 1e-4
    last, first = tiny_backbone.attention_scores(inputs, layers=[-1, 0])
    np.testing.assert_array_equal(ops.convert_to_numpy(last), every[1])
    np.testing.assert_array_equal(ops.convert_to_numpy(first), every[0])
    assert tiny_backbone.attention_scores(inputs, layers=[]) == []
    with pytest.raises(ValueError, match=r"layers 0 to 1. Received: layers=\[2\]"):
        tiny_backbone.attention_scores(inputs, layers=[2])


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("loss", [pretraining, next_tokens], ids=lambda loss: loss.__name__)
def test_blocks_computed_twice_train_alike(loss):
    kept, history = fit(loss, 5, 3)
    twice, of_twice = fit(loss, 5, 3, rematerialize=True)
    assert twice.backbone.rematerialize and not kept.backbone.rematerialize
    check_same_weights(twice, kept, loss)
    check_same_history(of_twice, history)


def test_preset_round_trip(tiny_backbone, inputs, tmp_path):
    tiny_backbone.save_to_preset(str(tmp_path / "preset"))
    copy = BertBackbone.from_preset(str(tmp_path / "preset"))
    assert copy.config == tiny_backbone.config
    expected = outputs(tiny_backbone, inputs)
    for key, value in outputs(copy, inputs).items():
        np.testing.assert_array_equal(value, expected[key])
    random = BertBackbone.from_preset(tmp_path / "preset", load_weights=False)
    assert np.abs(outputs(random, inputs)["pooled_output"] - expected["pooled_output"]).max() > 1e-3


@pytest.mark.slow
def test_int8_is_close_and_survives_a_preset(make_tiny_backbone, inputs, tmp_path):
    backbone = make_tiny_backbone()
    exact = outputs(backbone, inputs)["pooled_output"]
    backbone.quantize("int8")
    quantized = outputs(backbone, inputs)["pooled_output"]
    assert 0 < np.abs(quantized - exact).max() < 0.02
    backbone.save_to_preset(str(tmp_path))
    assert quantized_dtype(tmp_path)["class_name"] == "DTypePolicyMap"
    copy = BertBackbone.from_preset(tmp_path)
    assert "int8" in {str(weight.dtype) for weight in copy.weights}
    np.testing.assert_allclose(outputs(copy, inputs)["pooled_output"], quantized, atol=1e-6)


def test_a_float_preset_has_no_quantized_dtype(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"config": {"dtype": {"class_name": "DTypePolicy"}}})
    )
    assert quantized_dtype(tmp_path) is None


def test_lora_trains_low_rank_matrices_only(make_tiny_backbone, inputs, tmp_path):
    backbone = make_tiny_backbone()
    before = outputs(backbone, inputs)["sequence_output"]
    backbone.enable_lora(3)
    trainable = [weight.path for weight in backbone.trainable_weights]
    matrices = [path for path in trainable if "lora_kernel" in path]
    assert len(matrices) == 2 * 2 * 2  # layers, query and value, A and B
    assert all("/query/" in path or "/value/" in path for path in trainable)
    # B starts at zero, so nothing has changed yet.
    np.testing.assert_allclose(outputs(backbone, inputs)["sequence_output"], before, atol=1e-6)
    for weight in backbone.trainable_weights:
        weight.assign(np.full(weight.shape, 0.05, "float32"))
    changed = outputs(backbone, inputs)["sequence_output"]
    assert np.abs(changed - before).max() > 1e-3
    backbone.save_to_preset(str(tmp_path))
    merged = outputs(BertBackbone.from_preset(tmp_path), inputs)["sequence_output"]
    np.testing.assert_allclose(merged, changed, atol=1e-5)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_keeps_float32_weights_and_is_finite(make_tiny_backbone, inputs, dtype):
    backbone = make_tiny_backbone(dtype=dtype)
    assert {keras.backend.standardize_dtype(w.dtype) for w in backbone.trainable_weights} == {
        "float32"
    }
    padded = {**inputs, "padding_mask": inputs["padding_mask"].copy()}
    padded["padding_mask"][2] = 0
    states = backbone(padded)["sequence_output"]
    assert keras.backend.standardize_dtype(states.dtype) == dtype.removeprefix("mixed_")
    assert np.isfinite(ops.convert_to_numpy(ops.cast(states, "float32"))).all()
    exact = outputs(make_tiny_backbone(), inputs)["sequence_output"]
    half = ops.convert_to_numpy(ops.cast(backbone(inputs)["sequence_output"], "float32"))
    assert np.abs(half - exact).max() < 0.1


def test_a_foreign_folder_is_a_clear_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        BertBackbone.from_preset(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=str(tmp_path)):
        BertBackbone.from_preset(tmp_path)


def test_a_frozen_backbone_has_no_dropout(make_tiny_backbone, inputs):
    backbone = make_tiny_backbone(dropout=0.5)

    def state(training):
        return ops.convert_to_numpy(backbone(inputs, training=training)["sequence_output"])

    assert np.abs(state(True) - state(False)).max() > 1e-3
    backbone.trainable = False
    np.testing.assert_array_equal(state(True), state(False))


def test_a_truncated_preset_is_named(make_tiny_backbone, tmp_path):
    make_tiny_backbone().save_to_preset(str(tmp_path))
    (tmp_path / "model.weights.h5").write_bytes(b"")
    with pytest.raises(ValueError, match=r"model\.weights\.h5 is truncated"):
        BertBackbone.from_preset(tmp_path)


TEXT_NUMBERS = np.array([[1, 1, 1, 1, 2, 2, 2, 3, 0], [1, 1, 2, 2, 2, 2, 2, 2, 2]], "int32")
TEXTS = [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]  # row and number


@pytest.fixture(params=["bert", "gpt-1", "gpt-2"])
def reader(request):
    """A backbone with a wide spread, so that differences show."""
    keras.utils.set_random_seed(5)
    size = {"vocabulary_size": 31, "num_layers": 2, "num_heads": 4, "hidden_dim": 20}
    size |= {"intermediate_dim": 24, "max_sequence_length": 9, "initializer_range": 0.3}
    if request.param == "bert":
        return BertBackbone(**size)
    return GPTBackbone(**size, normalize_first=request.param == "gpt-2")


def of_texts(backbone, text_numbers, seed=6):
    random = np.random.default_rng(seed)
    given = {
        "token_ids": random.integers(31, size=text_numbers.shape).astype("int32"),
        "segment_ids": random.integers(2, size=text_numbers.shape).astype("int32"),
        "padding_mask": text_numbers,
    }
    return {key: given[key] for key in backbone.input}


def test_a_packed_row_gives_each_text_its_own_states(reader):
    packed = of_texts(reader, TEXT_NUMBERS)
    plain = outputs(reader, {**packed, "padding_mask": np.sign(TEXT_NUMBERS)})["sequence_output"]
    places = [TEXT_NUMBERS[row] == number for row, number in TEXTS]
    alone = {key: np.zeros((5, 9), "int32") for key in packed}
    for text, ((row, _), is_here) in enumerate(zip(TEXTS, places, strict=True)):
        for key, value in packed.items():
            alone[key][text, : is_here.sum()] = value[row][is_here]
    alone["padding_mask"] = np.sign(alone["padding_mask"])
    expected = outputs(reader, alone)["sequence_output"]
    reader.reads_packed_rows = True
    states = outputs(reader, packed)["sequence_output"]
    assert np.isfinite(states).all()
    for text, ((row, _), is_here) in enumerate(zip(TEXTS, places, strict=True)):
        own = expected[text, : is_here.sum()]
        np.testing.assert_allclose(states[row][is_here], own, atol=1e-5)
    assert np.abs(states - plain).max() > 1e-2


def test_a_text_knows_nothing_of_its_neighbours(reader):
    reader.reads_packed_rows = True
    packed = of_texts(reader, TEXT_NUMBERS)
    before = outputs(reader, packed)["sequence_output"]
    is_second = TEXT_NUMBERS == 2
    for key in set(packed) - {"padding_mask"}:
        other = of_texts(reader, TEXT_NUMBERS, seed=8)[key]
        packed[key] = np.where(is_second, packed[key], other)
    after = outputs(reader, packed)["sequence_output"]
    np.testing.assert_array_equal(after[is_second], before[is_second])
    assert np.abs(after[TEXT_NUMBERS == 1] - before[TEXT_NUMBERS == 1]).max() > 1e-2


def test_rows_of_one_text_are_read_as_ever(reader):
    """Padding aside, of which no output is used."""
    inputs = of_texts(reader, np.array([[1] * 9, [1] * 6 + [0] * 3], "int32"))
    expected = outputs(reader, inputs)
    reader.reads_packed_rows = True
    found = outputs(reader, inputs)
    is_real = inputs["padding_mask"] > 0
    np.testing.assert_allclose(
        found["sequence_output"][is_real], expected["sequence_output"][is_real], atol=1e-6
    )
    np.testing.assert_allclose(found["pooled_output"], expected["pooled_output"], atol=1e-6)


def test_a_frozen_backbone_reads_packed_rows_without_dropout(make_tiny_backbone):
    backbone = make_tiny_backbone(dropout=0.5)
    backbone.reads_packed_rows = True
    packed = of_texts(backbone, TEXT_NUMBERS)

    def state(training):
        return ops.convert_to_numpy(backbone(packed, training=training)["sequence_output"])

    assert np.abs(state(True) - state(False)).max() > 1e-3
    backbone.trainable = False
    np.testing.assert_array_equal(state(True), state(False))
