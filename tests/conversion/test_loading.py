from pathlib import Path

import numpy as np
import pytest

from kerazoo.conversion.bert_names import (
    HUGGINGFACE_BACKBONE,
    HUGGINGFACE_HEADS,
    POOLER_TARGETS,
)
from kerazoo.conversion.loading import Checkpoint, load_weights, model_variables
from kerazoo.conversion.stored_tensor import StoredTensor


@pytest.fixture
def make_checkpoint():
    def make(tensors, **options):
        stored = {
            name: StoredTensor(
                name, values.shape, Path("weights.bin"), lambda values=values: values
            )
            for name, values in tensors.items()
        }
        return Checkpoint(Path("bert"), stored, HUGGINGFACE_BACKBONE, HUGGINGFACE_HEADS, **options)

    return make


def test_a_backbone_is_loaded_bit_for_bit(
    tensors, make_checkpoint, make_model, expected, same_values
):
    model = make_model()
    report = load_weights(model.variables, make_checkpoint(tensors))
    same_values(model.values(), expected(tensors))
    assert set(report.loaded) == {variable.path for variable in model.variables}
    assert report.missing == ()
    assert report.unused == ("classifier.weight", "classifier.bias")
    assert all(variable.assigned == 1 for variable in model.variables)


def test_a_task_is_loaded_with_its_head(
    tensors, make_checkpoint, make_model, expected, same_values
):
    model = make_model(with_head=True)
    report = load_weights(model.variables, make_checkpoint(tensors))
    same_values(model.values(), expected(tensors, with_head=True))
    assert report.is_complete


def test_a_head_can_be_left_out(tensors, make_checkpoint, make_model):
    model = make_model(with_head=True)
    report = load_weights(model.variables, make_checkpoint(tensors), with_head=False)
    assert report.missing == ("classifier/kernel", "classifier/bias")
    assert report.unused == ("classifier.weight", "classifier.bias")
    assert not model.values()["classifier/kernel"].any()


def test_a_missing_head_is_reported(tensors, make_checkpoint, make_model):
    del tensors["classifier.weight"], tensors["classifier.bias"]
    report = load_weights(make_model(with_head=True).variables, make_checkpoint(tensors))
    assert report.missing == ("classifier/kernel", "classifier/bias")
    assert report.unused == ()


def test_any_missing_backbone_weight_is_an_error_that_names_it(
    tensors, make_checkpoint, make_model, pairs
):
    for name, path, _ in pairs:
        model = make_model(with_head=True)
        rest = {key: values for key, values in tensors.items() if key != name}
        with pytest.raises(ValueError, match="lacks the backbone weight") as error:
            load_weights(model.variables, make_checkpoint(rest))
        assert repr(name) in str(error.value)
        assert repr(path) in str(error.value)
        assert not any(variable.assigned for variable in model.variables)


def test_the_pooler_may_be_absent_as_a_whole_where_that_is_allowed(
    tensors, make_checkpoint, make_model
):
    without = {n: t for n, t in tensors.items() if not n.startswith("pooler.")}
    model = make_model()
    checkpoint = make_checkpoint(without, optional_targets=POOLER_TARGETS)
    assert load_weights(model.variables, checkpoint).missing == POOLER_TARGETS
    with pytest.raises(ValueError, match="'pooler.dense.weight'"):
        load_weights(model.variables, make_checkpoint(without))


@pytest.mark.parametrize("name", ["pooler.dense.weight", "pooler.dense.bias"])
def test_half_a_pooler_is_an_error_always(tensors, make_checkpoint, make_model, name):
    del tensors[name]
    checkpoint = make_checkpoint(tensors, optional_targets=POOLER_TARGETS)
    with pytest.raises(ValueError, match=repr(name)):
        load_weights(make_model().variables, checkpoint)


def test_nothing_matches(make_checkpoint, make_model):
    other = {"transformer.h.0.attn.weight": np.zeros((2, 2), np.float32)}
    with pytest.raises(ValueError, match="nothing was loaded.*transformer.h.0.attn.weight"):
        load_weights(make_model().variables, make_checkpoint(other))


@pytest.mark.parametrize(
    ("name", "shape", "fields"),
    [
        ("embeddings.word_embeddings.weight", (30, 20), "vocab_size decides"),
        ("embeddings.position_embeddings.weight", (12, 20), "max_position_embeddings decides"),
        ("embeddings.token_type_embeddings.weight", (2, 20), "type_vocab_size decides"),
        ("embeddings.word_embeddings.weight", (30, 16), "vocab_size and hidden_size decides"),
        ("encoder.layer.1.intermediate.dense.weight", (28, 20), "intermediate_size decides"),
        ("encoder.layer.1.output.LayerNorm.bias", (16,), "hidden_size decides"),
        ("classifier.bias", (2,), "id2label decides"),
    ],
)
def test_another_shape_names_both_and_the_field(
    tensors, make_checkpoint, make_model, name, shape, fields
):
    before = tensors[name].shape
    tensors[name] = np.zeros(shape, np.float32)
    model = make_model(with_head=True)
    with pytest.raises(ValueError, match=f"{name}' in weights.bin does not fit.*{fields}") as error:
        load_weights(model.variables, make_checkpoint(tensors))
    message = str(error.value)
    transposed = name.endswith("dense.weight")
    assert str(shape[::-1] if transposed else shape) in message
    assert str(before[::-1] if transposed else before) in message
    assert not any(variable.assigned for variable in model.variables)


def test_a_quantized_model_is_refused(tensors, make_checkpoint, make_model):
    model = make_model()
    model.variables[9].dtype = "int8"
    with pytest.raises(ValueError, match="load first, then quantize.*int8"):
        load_weights(model.variables, make_checkpoint(tensors))


def test_one_tensor_is_in_memory_at_a_time(tensors, make_model):
    alive, most = set(), 0

    class Tracked(np.ndarray):
        def __del__(self):
            alive.discard(id(self))

    def read(values):
        nonlocal most
        tracked = values.copy().view(Tracked)
        alive.add(id(tracked))
        most = max(most, len(alive))
        return tracked

    stored = {
        name: StoredTensor(name, values.shape, Path("f"), lambda values=values: read(values))
        for name, values in tensors.items()
    }
    model = make_model()
    for variable in model.variables:
        variable.assign = lambda value: None
    load_weights(
        model.variables,
        Checkpoint(Path("b"), stored, HUGGINGFACE_BACKBONE, HUGGINGFACE_HEADS),
    )
    assert 1 <= most <= 2  # the one that is read, and the one before it


def test_model_variables_leave_out_random_states(tiny_text_classifier):
    paths = {variable.path for variable in model_variables(tiny_text_classifier)}
    assert "classifier/kernel" in paths
    assert not [path for path in paths if "seed" in path]
    assert len(paths) == 39 + 2
