import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerazoo.generation.ready_prompts import ready_prompts

IDS = np.array([[5, 9, 0, 0], [1, 2, 30, 0], [0, 7, 7, 7]], "int64")
MASK = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]], "int32")


@pytest.mark.parametrize("make", [np.array, np.ndarray.tolist, ops.convert_to_tensor])
def test_what_is_masked_is_no_prompt(make):
    rows, width = ready_prompts({"token_ids": make(IDS), "padding_mask": make(MASK)}, 31)
    assert rows == [[5, 9], [1, 2, 30], [0]]
    assert width == 4


def test_no_rows_are_none():
    assert ready_prompts({"token_ids": IDS[:0], "padding_mask": MASK[:0] > 0}, 31) == ([], 4)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("the good", "dict of `token_ids` and `padding_mask`. Received: inputs=str"),
        (IDS, "Received: inputs=ndarray"),
        ({"token_ids": IDS}, r"Received: inputs=\['token_ids'\]"),
        (tf.data.Dataset.from_tensors({"token_ids": IDS}), "Received: inputs=_TensorDataset"),
    ],
)
def test_what_is_no_dict_of_both_is_refused(inputs, message):
    with pytest.raises(TypeError, match=message):
        ready_prompts(inputs, 31)


@pytest.mark.parametrize(
    ("ids", "mask", "message"),
    [
        (IDS[0], MASK[0], r"\(batch, seq\).*token_ids of shape \(4,\)"),
        (IDS, MASK[:, :3], r"padding_mask of shape \(3, 3\)"),
        (IDS + 0.5, MASK, "whole numbers.*dtype float64"),
        (IDS, MASK[:, ::-1], r"prompt 0 has padding before its end.*=\[0, 0, 1, 1\]"),
        (IDS, np.array([MASK[0], [1, 0, 1, 0], MASK[2]]), r"prompt 1 .*=\[1, 0, 1, 0\]"),
        (IDS + 1, MASK, "Ids are 0 to 30. Received: token_ids=31 in prompt 1"),
        (IDS - 1, MASK, "Ids are 0 to 30. Received: token_ids=-1 in prompt 2"),
    ],
)
def test_rows_that_are_no_prompts_are_named(ids, mask, message):
    with pytest.raises(ValueError, match=message):
        ready_prompts({"token_ids": ids, "padding_mask": mask}, 31)
