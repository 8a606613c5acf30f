import numpy as np
import pytest
from keras import ops

from kerazoo.generation.stop_tokens import new_stop_tokens

IDS = np.array([[5, 2, 7, 5, 1], [9, 5, 5, 2, 2]], "int32")
PROMPTS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], bool)


@pytest.mark.parametrize(
    ("stop_token_ids", "expected"),
    [
        (None, [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]),
        ((5,), [[0, 0, 0, 1, 0], [0, 0, 1, 0, 0]]),
        ([2, 1], [[0, 1, 0, 0, 1], [0, 0, 0, 1, 1]]),
        ((8,), [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]),
    ],
)
def test_only_tokens_behind_the_prompt_count(stop_token_ids, expected):
    found = new_stop_tokens(
        ops.convert_to_tensor(IDS), ops.convert_to_tensor(PROMPTS), stop_token_ids
    )
    assert ops.convert_to_numpy(found).astype(int).tolist() == expected
