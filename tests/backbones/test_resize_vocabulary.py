import numpy as np
import pytest
from keras import ops
from tiny_gpt import tiny_gpt

from kerazoo.backbones.resize_vocabulary import resize_vocabulary


def table(backbone):
    return ops.convert_to_numpy(backbone.token_embedding.embeddings)


def test_old_rows_and_all_other_weights_are_bit_equal():
    backbone = tiny_gpt(vocabulary_size=262, dropout=0.25)
    before = table(backbone)
    resized = resize_vocabulary(backbone, 265)
    assert resized.config.vocabulary_size == 265
    assert resized.config.dropout == 0.25
    np.testing.assert_array_equal(table(resized)[:262], before)
    new_rows = table(resized)[262:]
    assert 0.05 < np.std(new_rows) < 0.6
    assert np.unique(new_rows, axis=0).shape[0] == 3
    for old, new in zip(backbone.weights, resized.weights, strict=True):
        if old is not backbone.token_embedding.embeddings:
            np.testing.assert_array_equal(ops.convert_to_numpy(old), ops.convert_to_numpy(new))
    np.testing.assert_array_equal(table(backbone), before)
    inputs = {key: np.ones((2, 5), "int32") for key in ("token_ids", "padding_mask")}
    outputs = [ops.convert_to_numpy(b(inputs)["sequence_output"]) for b in (backbone, resized)]
    np.testing.assert_array_equal(*outputs)


def test_as_many_rows_change_nothing(tiny_backbone):
    assert resize_vocabulary(tiny_backbone, 31) is tiny_backbone


@pytest.mark.parametrize("rows", [30, 0, True, 40.0])
def test_a_vocabulary_only_grows(tiny_backbone, rows):
    with pytest.raises(ValueError, match=f"has 31 tokens. Received: rows={rows}"):
        resize_vocabulary(tiny_backbone, rows)


@pytest.mark.parametrize("change", ["quantize", "lora"])
def test_changed_weights_are_refused(change):
    backbone = tiny_gpt()
    if change == "quantize":
        backbone.token_embedding.quantize("int8")
    else:
        backbone.enable_lora(rank=2)
    with pytest.raises(ValueError, match="resize the vocabulary before"):
        resize_vocabulary(backbone, 300)
