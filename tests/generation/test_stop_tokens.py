import numpy as np
import pytest
from keras import ops

from kerazoo.generation.stop_tokens import checked_stop_token_ids, new_stop_tokens

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


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), ([], None), ([0, 30], (0, 30)), (np.array([7]), (7,)), ({4}, (4,))],
)
def test_ids_become_whole_numbers(given, expected):
    assert checked_stop_token_ids(given, 31) == expected


@pytest.mark.parametrize("given", [5, "auto", "5", b"5", [1.5], [True], ["a"], [None], [31], [-1]])
def test_what_is_no_list_of_ids_is_told(given):
    with pytest.raises(ValueError, match="ids from 0 to 30, None or 'auto'. Received: stop_token"):
        checked_stop_token_ids(given, 31)
